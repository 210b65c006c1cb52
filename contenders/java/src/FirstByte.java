import java.util.concurrent.atomic.AtomicLong;

/**
 * When the first byte of the content was there, counted from the beginning of a reading; any thread
 * may report it.
 */
final class FirstByte {
    private final long startNanos = System.nanoTime();
    private final AtomicLong nanos = new AtomicLong();

    void arrived() {
        if (nanos.get() == 0) {
            nanos.compareAndSet(0, System.nanoTime() - startNanos);
        }
    }

    /** The answer with the moment; without content there is no first byte. */
    Answer of(Answer answer) {
        return nanos.get() == 0 ? answer : answer.with("first_byte_ns", nanos.get());
    }
}
