// usual: yes
import java.nio.file.Path

/** Counts lines; each is a new String. */
fun linesOneByOne(path: Path): Long {
    var lines = 0L
    path.toFile().forEachLine { lines++ }
    return lines
}
