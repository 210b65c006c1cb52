import java.nio.file.Path

/** Counts lines; each is a new String. */
fun linesInSequence(path: Path): Long =
    path.toFile().useLines { lines -> lines.count().toLong() }
