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
 * @param longest the bytes of the longest block
 * @param offsets where each block begins
 * @param lengths the bytes of each block; empty if all blocks have the same length
 */
record Places(Path file, int longest, long[] offsets, int[] lengths) {
    /** The word that says that the target is a list of places. */
    static final String WORD = "places=1";
    private static final int BLOCK_BYTES_MAX = 1 << 30;

    /**
     * Reads a list: the path of the file, ended by a zero byte, the bytes of a block, the offsets. If the
     * bytes of a block are 0, each offset is followed by the length of its block.
     */
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
        Path file = Target.exactPath(Arrays.copyOf(bytes, end));
        if (blockBytes == 0) {
            return ofLengths(file, numbers);
        }
        long[] offsets = new long[numbers.remaining()];
        numbers.get(offsets);
        return new Places(file, checked(blockBytes), offsets, new int[0]);
    }

    private static Places ofLengths(Path file, LongBuffer numbers) throws IOException {
        int count = numbers.remaining() / 2;
        if (numbers.remaining() != 2 * count) {
            throw broken();
        }
        long[] offsets = new long[count];
        int[] lengths = new int[count];
        int longest = 0;
        for (int i = 0; i < count; i++) {
            offsets[i] = numbers.get();
            lengths[i] = checked(numbers.get());
            longest = Math.max(longest, lengths[i]);
        }
        return new Places(file, longest, offsets, lengths);
    }

    /** The length of the block with this number. */
    int length(int number) {
        return lengths.length == 0 ? longest : lengths[number];
    }

    private static int checked(long blockBytes) throws IOException {
        if (blockBytes < 1 || blockBytes > BLOCK_BYTES_MAX) {
            throw broken();
        }
        return (int) blockBytes;
    }

    private static IOException broken() {
        return new IOException("a list of places is not complete, or its blocks are not of 1 byte to 1 GiB");
    }
}
