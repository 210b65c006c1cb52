import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/**
 * The consumer of all methods: it counts the bytes and does the work, with plain indexed loops that the compiler may
 * optimise. Each response has its own; those of a reading are added up.
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
        bytes += length;
        counted += switch (work) {
            case NEWLINES -> newlines(chunk, length);
            case SUM -> sum(chunk, length);
            case DISCARD -> 0;
        };
    }

    /** Visits the rest of a buffer, byte by byte in place. */
    void take(ByteBuffer chunk) {
        bytes += chunk.remaining();
        counted += switch (work) {
            case NEWLINES -> newlines(chunk);
            case SUM -> sum(chunk);
            case DISCARD -> 0;
        };
    }

    /** Adds another one, from any thread. */
    synchronized void add(Tally part) {
        bytes += part.bytes;
        counted += part.counted;
    }

    long bytes() {
        return bytes;
    }

    /** Proof of the work: the numbers by their names in messages. */
    synchronized Map<String, Long> proof() {
        Map<String, Long> proof = new TreeMap<>(Map.of("bytes", bytes));
        switch (work) {
            case NEWLINES -> proof.put(work.word(), counted);
            case SUM -> proof.put(work.word(), counted & 0xFF);
            case DISCARD -> { }
        }
        return proof;
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
