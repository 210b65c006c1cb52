import java.nio.file.Path

/** Counts newlines of the whole file in one String. */
fun newlinesOfOneString(path: Path): Long = path.toFile().readText().count { it == '\n' }.toLong()
