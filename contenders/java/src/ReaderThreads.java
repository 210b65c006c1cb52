import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads of a reading that has several. A thread that ends is first forgotten as a live one and only later
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

    /** What a task returns in so many threads, all at once; a single one is the calling thread. */
    static <T> List<T> each(int readers, Callable<T> task) throws Exception {
        if (readers <= 1) {
            return List.of(task.call());
        }
        ExecutorService threads = Executors.newFixedThreadPool(readers, reader -> new Thread(reader, NAME));
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> result : threads.invokeAll(Collections.nCopies(readers, task))) {
                results.add(result.get());
            }
            return results;
        } finally {
            threads.shutdown();
        }
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
