import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Blocks at places of one file, out of a list (PROTOCOL.md).
 *
 * @param file the file
 * @param blockBytes the bytes of each block
 * @param offsets where each block begins
 */
record Places(Path file, int blockBytes, long[] offsets) {
    /** The word that says that the target is a list of places. */
    static final String WORD = "places=1";
    private static final int BLOCK_BYTES_MAX = 1 << 30;

    /** Reads a list: the path of the file, ended by a zero byte, the bytes of a block, the offsets. */
    static Places read(Path list) throws IOException {
        byte[] bytes = Files.readAllBytes(list);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        int numberBytes = bytes.length - end - 1;
        if (end == 0 || numberBytes < Long.BYTES || numberBytes % Long.BYTES != 0) {
            throw broken();
        }
        ByteBuffer rest = ByteBuffer.wrap(bytes, end + 1, numberBytes).order(ByteOrder.LITTLE_ENDIAN);
        LongBuffer numbers = rest.asLongBuffer();
        long blockBytes = numbers.get();
        if (blockBytes < 1 || blockBytes > BLOCK_BYTES_MAX) {
            throw broken();
        }
        long[] offsets = new long[numbers.remaining()];
        numbers.get(offsets);
        return new Places(Target.exactPath(Arrays.copyOf(bytes, end)), (int) blockBytes, offsets);
    }

    private static IOException broken() {
        return new IOException("a list of places is not complete, or its blocks are not of 1 byte to 1 GiB");
    }
}
