import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads of a reading with several readers. A thread that ends is first forgotten as a live one and only later
 * added to what ended ones allocated; whoever sums up allocations waits here, outside of every window, until the
 * kernel knows none of them any more.
 */
final class ReaderThreads {
    /** At most fifteen bytes, so that the kernel shows it whole. */
    private static final String NAME = "readlab-reader";
    private static final Path OF_THIS_PROCESS = Path.of("/proc/self/task");
    private static final long PAUSE_NANOS = 100_000;
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private ReaderThreads() {}

    static ExecutorService of(int readers) {
        return Executors.newFixedThreadPool(readers, reader -> new Thread(reader, NAME));
    }

    /** False if one of them is still there after five seconds, or if that cannot be seen. */
    static boolean haveEnded() {
        long start = System.nanoTime();
        try {
            while (anyIsThere()) {
                if (System.nanoTime() - start > PATIENCE_NANOS) {
                    return false;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            return true;
        } catch (IOException unreadable) {
            return false;
        }
    }

    private static boolean anyIsThere() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(OF_THIS_PROCESS)) {
            for (Path thread : threads) {
                if (isReader(thread)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean isReader(Path thread) throws IOException {
        try {
            return Files.readString(thread.resolve("comm")).strip().equals(NAME);
        } catch (NoSuchFileException ended) {
            return false;
        } catch (IOException ended) {
            if ("No such process".equals(ended.getMessage())) {
                return false;
            }
            throw ended;
        }
    }
}
