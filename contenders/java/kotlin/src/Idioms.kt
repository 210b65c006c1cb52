@file:JvmName("Idioms")

/*
 * What Kotlin's standard library has for reading a file, each as its documentation shows it. The
 * list of methods in Java says what is done with it.
 */

import java.io.File
import java.nio.file.Path
import kotlin.io.path.useLines

private const val NEWLINE = '\n'.code.toByte()

/** Visits the first bytes of an array, so many. */
fun interface Visitor {
    fun visit(bytes: ByteArray, length: Int)
}

/** Lines by `File.forEachLine`. */
fun forEachLine(file: File): Long {
    var lines = 0L
    file.forEachLine { lines++ }
    return lines
}

/** Lines by `File.useLines`. */
fun useLines(file: File): Long = file.useLines { lines -> lines.count().toLong() }

/** Lines by `Path.useLines`. */
fun useLines(path: Path): Long = path.useLines { lines -> lines.count().toLong() }

/** Lines by `File.readLines`. */
fun readLines(file: File): Long = file.readLines().size.toLong()

/** Newlines in what `File.readText` returns. */
fun newlinesOfText(file: File): Long = file.readText().count { it == '\n' }.toLong()

/** All bytes by `File.readBytes`. */
fun readBytes(file: File): ByteArray = file.readBytes()

/** Blocks by `File.forEachBlock`. */
fun forEachBlock(file: File, blockBytes: Int, visitor: Visitor) {
    file.forEachBlock(blockBytes) { bytes, length -> visitor.visit(bytes, length) }
}

/** Newlines among the bytes of a buffered stream, which `BufferedInputStream.iterator` gives. */
fun newlinesOfBytes(file: File, bufferBytes: Int): Long {
    var newlines = 0L
    file.inputStream().buffered(bufferBytes).use { bytes ->
        for (byte in bytes) {
            if (byte == NEWLINE) newlines++
        }
    }
    return newlines
}
