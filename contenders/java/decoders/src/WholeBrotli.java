import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import org.brotli.dec.BrotliInputStream;

/**
 * A BrotliInputStream whose stream must reach to the end of the file.
 *
 * <p>The decoder reads pieces, and compares both ends only if it has met the end of the file. If
 * the stream ends in a piece before that, its place in the piece is needed, which only the fields
 * of the decoder have.
 */
final class WholeBrotli extends BrotliInputStream {
    private static final int PIECE_BYTES = 4096;
    /** The decoder has taken them from its piece before it uses them. */
    private static final int ACCUMULATOR_BYTES = 8;
    private static final int ACCUMULATOR_SHIFT = 3;
    private static final int INT_SHIFT = 2;

    private final NotedEnd file;

    WholeBrotli(InputStream file) throws IOException {
        this(new NotedEnd(file));
    }

    private WholeBrotli(NotedEnd file) throws IOException {
        super(file);
        this.file = file;
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = readWithCause(bytes, offset, room);
        if (read < 0 && !file.isMet() && (file.read() >= 0 || usedOfPiece() < PIECE_BYTES)) {
            throw new IOException("bytes follow the end of the brotli");
        }
        return read;
    }

    /** The decoder's reason is in the cause of its failure. */
    private int readWithCause(byte[] bytes, int offset, int room) throws IOException {
        try {
            return super.read(bytes, offset, room);
        } catch (IOException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw new IOException(failure.getMessage() + ": " + cause.getMessage(), failure);
            }
            throw failure;
        }
    }

    private int usedOfPiece() {
        try {
            Object reader = field(field(this, BrotliInputStream.class, "state"), "br");
            int ints = (int) field(reader, "intOffset");
            int bits = (int) field(reader, "bitOffset");
            int ahead = ACCUMULATOR_BYTES - (bits + Byte.SIZE - 1 >> ACCUMULATOR_SHIFT);
            return (ints << INT_SHIFT) - ahead;
        } catch (ReflectiveOperationException anotherVersion) {
            throw new IllegalStateException(anotherVersion);
        }
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        return field(of, of.getClass(), name);
    }

    private static Object field(Object of, Class<?> type, String name)
            throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
