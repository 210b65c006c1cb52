import java.nio.file.Path

/** Counts lines, which are all held at once. */
fun linesHeldAtOnce(path: Path): Long = path.toFile().readLines().size.toLong()
