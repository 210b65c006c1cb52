import java.nio.file.Path
import kotlin.io.path.useLines

/** Counts lines; each is a new String. What is no UTF-8 is an error. */
fun linesOfPath(path: Path): Long =
    path.useLines { lines -> lines.count().toLong() }
