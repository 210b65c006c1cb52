import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One reading while it goes on: its clock, which is {@link System#nanoTime}, the moment of its first byte, and its
 * requests. Made when the window opens.
 */
final class Window {
    private final long startNanos = System.nanoTime();
    private final AtomicLong firstByteNanos = new AtomicLong();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong attempts = new AtomicLong();

    /** Bytes of the content are there; only the first call matters. */
    void byteArrived() {
        if (firstByteNanos.get() == 0) {
            firstByteNanos.compareAndSet(0, elapsedNanos());
        }
    }

    /** The program calls the SDK for a response. */
    void called() {
        calls.incrementAndGet();
    }

    /** The SDK sends a request: once for each call, and again when it repeats one. */
    void attempted() {
        attempts.incrementAndGet();
    }

    long elapsedNanos() {
        return System.nanoTime() - startNanos;
    }

    /** The numbers of the sample besides its time and its proof. */
    Map<String, Long> numbers() {
        Map<String, Long> numbers = new TreeMap<>();
        numbers.put("requests", attempts.get());
        numbers.put("retries", attempts.get() - calls.get());
        if (firstByteNanos.get() > 0) {
            numbers.put("first_byte_ns", firstByteNanos.get());
        }
        return numbers;
    }
}
