import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Ranges of an object, several at once, each read by a thread through one {@link S3Client}. The
 * first answer has the object's size; while its body is read, the other threads begin with the
 * ranges behind it.
 */
record RangedSource(S3Client client, Observer observer, Request request, ExecutorService threads)
        implements Source {
    private static final int BUFFER_BYTES = 65_536;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    static Source open(Request request) {
        int concurrency = request.intParam("concurrency");
        Observer observer = new Observer();
        return new RangedSource(Clients.blocking(request.profile(), observer, concurrency), observer, request,
                Executors.newFixedThreadPool(concurrency, task -> {
                    Thread thread = new Thread(task, "readlab-range");
                    thread.setDaemon(true);
                    return thread;
                }));
    }

    @Override
    public Tally read(Window window) throws IOException, InterruptedException {
        observer.observe(window);
        Tally total = new Tally(request.work());
        PartRange first = new PartRange(0, partBytes());
        ResponseInputStream<GetObjectResponse> body;
        try {
            body = client.getObject(request.get(first, request.profile().etag()));
        } catch (S3Exception refused) {
            if (refused.statusCode() != RANGE_NOT_SATISFIABLE) {
                throw refused;
            }
            readEmpty(window, total);
            return total;
        }
        if (isEmptyWhole(body.response())) {
            BlockingSource.visit(body, request.profile().etag(), window, total, new byte[1]);
        } else {
            readRanges(new Ranges(body, first, window, total));
        }
        return total;
    }

    /** Some servers answer so if there is no byte to have a range of; the others with 416. */
    private static boolean isEmptyWhole(GetObjectResponse head) {
        return head.contentRange() == null && head.contentLength() != null && head.contentLength() == 0;
    }

    /** An empty object has no range; then a plain request must show that it is empty. */
    private void readEmpty(Window window, Tally total) throws IOException {
        ResponseInputStream<GetObjectResponse> whole = client.getObject(request.get());
        BlockingSource.visit(whole, request.profile().etag(), window, total, new byte[1]);
        if (total.bytes() > 0) {
            throw new IOException("the server refuses ranges of an object that has bytes");
        }
    }

    private void readRanges(Ranges ranges) throws IOException, InterruptedException {
        List<Future<?>> readers = new ArrayList<>();
        readers.add(threads.submit(ranges::readFirst));
        for (long i = 1; i < Math.min(request.intParam("concurrency"), ranges.parts); i++) {
            readers.add(threads.submit(ranges::readOthers));
        }
        for (Future<?> reader : readers) {
            try {
                reader.get();
            } catch (ExecutionException failure) {
                throw failure.getCause() instanceof IOException cause ? cause : new IOException(failure.getCause());
            }
        }
    }

    private long partBytes() {
        return request.params().get("part_bytes");
    }

    @Override
    public void close() {
        threads.shutdown();
        client.close();
    }

    /** The ranges of one reading, and which of them are not asked for yet. */
    private final class Ranges {
        private final ResponseInputStream<GetObjectResponse> firstBody;
        private final Window window;
        private final Tally total;
        private final long size;
        private final long parts;
        private final Optional<String> etag;
        private final AtomicLong next = new AtomicLong(1);

        Ranges(ResponseInputStream<GetObjectResponse> firstBody, PartRange first, Window window, Tally total)
                throws IOException {
            this.firstBody = firstBody;
            this.window = window;
            this.total = total;
            try {
                this.size = first.sizeBehind(firstBody.response().contentRange());
            } catch (IOException failure) {
                firstBody.abort();
                throw failure;
            }
            this.parts = (size + partBytes() - 1) / partBytes();
            // All ranges must be of one version of the object.
            this.etag = request.profile().etag().or(() -> Optional.ofNullable(firstBody.response().eTag()));
        }

        private Void readFirst() throws IOException {
            Tally tally = new Tally(request.work());
            byte[] buffer = new byte[BUFFER_BYTES];
            try {
                visit(firstBody, new PartRange(0, Math.min(partBytes(), size)), tally, buffer);
                readNext(tally, buffer);
            } finally {
                stop();
            }
            return null;
        }

        private Void readOthers() throws IOException {
            try {
                readNext(new Tally(request.work()), new byte[BUFFER_BYTES]);
            } finally {
                stop();
            }
            return null;
        }

        private void readNext(Tally tally, byte[] buffer) throws IOException {
            for (long part = next.getAndIncrement(); part < parts; part = next.getAndIncrement()) {
                long start = part * partBytes();
                PartRange range = new PartRange(start, Math.min(partBytes(), size - start));
                visit(client.getObject(request.get(range, etag)), range, tally, buffer);
            }
            total.add(tally);
        }

        private void visit(
                ResponseInputStream<GetObjectResponse> body, PartRange range, Tally tally, byte[] buffer)
                throws IOException {
            long before = tally.bytes();
            boolean sameSize;
            try {
                sameSize = range.sizeBehind(body.response().contentRange()) == size;
            } catch (IOException failure) {
                body.abort();
                throw failure;
            }
            BlockingSource.visit(body, etag, window, tally, buffer);
            if (!sameSize || tally.bytes() - before != range.length()) {
                throw new IOException("asked for " + range.header() + ", " + (tally.bytes() - before)
                        + " bytes came, of an object of another size");
            }
        }

        /** Nothing is left to begin: all ranges are taken, or one failed. */
        private void stop() {
            next.set(parts);
        }
    }
}
