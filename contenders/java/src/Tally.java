import java.nio.ByteBuffer;

/**
 * The consumer of all methods that visit bytes: it counts the bytes and does the work, with plain indexed loops that
 * the compiler may optimise.
 */
final class Tally {
    private final Work work;
    private long bytes;
    private long counted;

    Tally(Work work) {
        this.work = work;
    }

    /** Visits the first {@code length} bytes of an array. */
    void take(byte[] chunk, int length) {
        add(length, switch (work) {
            case NEWLINES -> newlines(chunk, length);
            case SUM -> sum(chunk, length);
            case DISCARD -> 0;
            case LINES -> throw new IllegalStateException("bytes are no lines");
        });
    }

    /** Visits the rest of a buffer, byte by byte in place. */
    void take(ByteBuffer chunk) {
        add(chunk.remaining(), switch (work) {
            case NEWLINES -> newlines(chunk);
            case SUM -> sum(chunk);
            case DISCARD -> 0;
            case LINES -> throw new IllegalStateException("bytes are no lines");
        });
    }

    /** Visits the rest of a buffer through copies, piece by piece, in an array. */
    void takeInBulk(ByteBuffer chunk, byte[] piece) {
        while (chunk.hasRemaining()) {
            int length = Math.min(chunk.remaining(), piece.length);
            chunk.get(piece, 0, length);
            take(piece, length);
        }
    }

    /** Adds results from elsewhere: {@code count} newlines, or a sum of which eight bits matter. */
    void add(long length, long count) {
        bytes += length;
        counted += count;
    }

    /** Adds what another one counted, from any thread. */
    synchronized void add(Tally other) {
        add(other.bytes, other.counted);
    }

    long bytes() {
        return bytes;
    }

    /** What the work counts. */
    long value() {
        return switch (work) {
            case SUM -> counted & 0xFF;
            case DISCARD -> bytes;
            default -> counted;
        };
    }

    Answer answer() {
        return Answer.ofBytes(work, bytes, value());
    }

    // Int accumulators: a chunk is shorter than 2 GiB, and a sum that wraps keeps its low byte.
    private static int newlines(byte[] chunk, int length) {
        int count = 0;
        for (int i = 0; i < length; i++) {
            if (chunk[i] == '\n') {
                count++;
            }
        }
        return count;
    }

    private static int sum(byte[] chunk, int length) {
        int sum = 0;
        for (int i = 0; i < length; i++) {
            sum += chunk[i];
        }
        return sum;
    }

    private static int newlines(ByteBuffer chunk) {
        int count = 0;
        int end = chunk.limit();
        for (int i = chunk.position(); i < end; i++) {
            if (chunk.get(i) == '\n') {
                count++;
            }
        }
        return count;
    }

    private static int sum(ByteBuffer chunk) {
        int sum = 0;
        int end = chunk.limit();
        for (int i = chunk.position(); i < end; i++) {
            sum += chunk.get(i);
        }
        return sum;
    }
}
