import java.nio.file.Path

private const val BUFFER_BYTES = 8192 // = buffer_bytes

/** Counts newlines, one byte after the other. */
fun newlinesByteByByte(path: Path): Long {
    var newlines = 0L
    path.toFile().inputStream().buffered(BUFFER_BYTES).use { bytes ->
        for (byte in bytes) {
            if (byte == '\n'.code.toByte()) newlines++
        }
    }
    return newlines
}
