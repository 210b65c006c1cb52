// usual: yes
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

final class Blocks {
    private static final int BLOCK_BYTES = 4096;
    private static final int THREADS = 1; // = threads

    /** Counts newlines of the blocks at these offsets, which threads take in turn. */
    static long newlines(Path path, long[] offsets) throws IOException, InterruptedException, ExecutionException {
        AtomicInteger next = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            Callable<Long> reader = () -> newlinesOfNext(channel, offsets, next);
            long newlines = 0;
            for (Future<Long> found : threads.invokeAll(Collections.nCopies(THREADS, reader))) {
                newlines += found.get();
            }
            return newlines;
        } finally {
            threads.shutdown();
        }
    }

    private static long newlinesOfNext(FileChannel channel, long[] offsets, AtomicInteger next) throws IOException {
        ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
        long newlines = 0;
        for (int number = next.getAndIncrement(); number < offsets.length; number = next.getAndIncrement()) {
            block.clear();
            while (block.hasRemaining()) {
                if (channel.read(block, offsets[number] + block.position()) < 0) {
                    throw new EOFException("the file ends within the block at byte " + offsets[number]);
                }
            }
            for (byte b : block.array()) {
                if (b == '\n') {
                    newlines++;
                }
            }
        }
        return newlines;
    }
}
