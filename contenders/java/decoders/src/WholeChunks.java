import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * A file of snappy that must not end within a chunk: to a SnappyFramedInputStream, a chunk that it
 * skips may be cut short.
 */
final class WholeChunks extends FilterInputStream {
    private static final int HEAD_BYTES = 4;
    /** The first byte of a chunk is its type, the others are its size, the lowest byte first. */
    private static final int SIZE_SHIFT = 8;

    private int headRead;
    private int head;
    private int left;

    WholeChunks(InputStream file) {
        super(file);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = in.read(bytes, offset, room);
        if (read < 0 && (left > 0 || headRead > 0)) {
            throw new EOFException("the file ends within a chunk");
        }
        for (int at = offset; at < offset + read; ) {
            at += left > 0 ? pass(offset + read - at) : passHead(bytes[at] & 0xFF);
        }
        return read;
    }

    private int pass(int bytes) {
        int passed = Math.min(left, bytes);
        left -= passed;
        return passed;
    }

    private int passHead(int one) {
        head |= one << Byte.SIZE * headRead++;
        if (headRead == HEAD_BYTES) {
            left = head >>> SIZE_SHIFT;
            head = 0;
            headRead = 0;
        }
        return 1;
    }
}
