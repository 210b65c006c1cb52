import java.nio.file.Path

private const val BLOCK_BYTES = 4096 // = block_bytes

/** Counts newlines, block by block in one array. */
fun newlinesOfBlocks(path: Path): Long {
    var newlines = 0L
    path.toFile().forEachBlock(BLOCK_BYTES) { bytes, length ->
        for (i in 0 until length) {
            if (bytes[i] == '\n'.code.toByte()) newlines++
        }
    }
    return newlines
}
