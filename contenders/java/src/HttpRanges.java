import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One reading by ranges that are requested at once. The head of the first answer has the content's
 * size; the other ranges begin then, while the first body still comes. Each range that ends begins
 * the next one, so there are never more at once than were asked for, and no byte is kept.
 */
final class HttpRanges {
    static final Param PART = new Param("part_bytes", 8_388_608, 65_536, 1 << 30);
    static final Param CONCURRENCY = new Param("concurrency", 8, 1, 256);

    private final HttpRequests requests;
    private final Request request;
    private final long partBytes;
    private final FirstByte firstByte = new FirstByte();
    private final Tally total;
    private final AtomicLong next = new AtomicLong(1);
    private final CompletableFuture<Content> content = new CompletableFuture<>();

    /** What the first answer says about the content that all ranges are of. */
    private record Content(long size, Optional<String> etag) {}

    private HttpRanges(HttpClient client, Request request) {
        this.requests = new HttpRequests(client);
        this.request = request;
        this.partBytes = request.params().get(PART.name());
        this.total = new Tally(request.work());
    }

    static Answer read(Request request) throws IOException, InterruptedException {
        request.target().server();
        return request.http().read(client -> new HttpRanges(client, request).readAll());
    }

    private Answer readAll() throws IOException, InterruptedException {
        CompletableFuture<Void> first = range(0, Optional.empty());
        first.exceptionally(failure -> {
            content.completeExceptionally(failure);
            return null;
        });
        try {
            Content found = Failure.await(content);
            if (found.size() == 0) {
                readEmpty();
            } else {
                Failure.await(all(first, found));
            }
        } finally {
            next.set(Long.MAX_VALUE / 2);
        }
        return firstByte.of(requests.counted(total.answer()));
    }

    /** All ranges: as many chains as may run at once, the first one of which has begun. */
    private CompletableFuture<Void> all(CompletableFuture<Void> first, Content found) {
        long parts = (found.size() + partBytes - 1) / partBytes;
        List<CompletableFuture<Void>> chains = new ArrayList<>();
        chains.add(first.thenCompose(done -> following(parts, found.etag())));
        for (long i = 1; i < Math.min(parts, request.params().get(CONCURRENCY.name())); i++) {
            chains.add(following(parts, found.etag()));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(chains.toArray(CompletableFuture<?>[]::new));
        // The first failure is the cause; the others are not waited for.
        chains.forEach(chain -> chain.exceptionally(failure -> {
            all.completeExceptionally(failure);
            return null;
        }));
        return all;
    }

    private CompletableFuture<Void> following(long parts, Optional<String> etag) {
        long part = next.getAndIncrement();
        return part >= parts
                ? CompletableFuture.completedFuture(null)
                : range(part, etag).thenCompose(done -> following(parts, etag));
    }

    private CompletableFuture<Void> range(long part, Optional<String> etag) {
        long start = part * partBytes;
        HttpHead head = request.http().expected(HttpHead.PARTIAL_CONTENT)
                .ofRange(start, start + partBytes - 1)
                .ofVersion(etag);
        HttpRequest get = request.http().get(request.target().url().orElseThrow())
                .header("Range", "bytes=" + start + "-" + (start + partBytes - 1))
                .build();
        return requests.send(get, info -> body(info, head)).thenAccept(answer -> add(answer, start));
    }

    private BodySubscriber<Tally> body(ResponseInfo info, HttpHead head) {
        try {
            boolean first = head.range().get(0) == 0;
            if (first && info.statusCode() == HttpHead.RANGE_NOT_SATISFIABLE) {
                content.complete(new Content(0, Optional.empty()));
            }
            if (first && isEmptyWhole(info)) {
                content.complete(new Content(0, Optional.empty()));
            }
            head.check(info.statusCode(), info.headers(), info.version());
            long size = head.size(info.headers());
            if (first) {
                content.complete(new Content(size, info.headers().firstValue("ETag")));
            } else if (size != content.join().size()) {
                throw new IOException("the size of the content changed to " + size + " bytes");
            }
            return new HttpBody(new Tally(request.work()), firstByte);
        } catch (IOException refused) {
            return HttpBody.refused(refused);
        }
    }

    /** Some servers answer so if there is no byte to have a range of; the others with 416. */
    private static boolean isEmptyWhole(ResponseInfo info) {
        return info.statusCode() == HttpHead.OK && info.headers().firstValueAsLong("Content-Length").orElse(-1) == 0;
    }

    private void add(HttpResponse<Tally> answer, long start) {
        long expected = Math.min(partBytes, content.join().size() - start);
        if (answer.body().bytes() != expected) {
            throw new IllegalStateException("a range of " + expected + " bytes has " + answer.body().bytes());
        }
        total.add(answer.body());
    }

    /** An empty content has no range; then a plain request must show that it is empty. */
    private void readEmpty() throws IOException, InterruptedException {
        HttpRequest get = request.http().get(request.target().url().orElseThrow()).build();
        HttpHead head = request.http().expected(HttpHead.OK);
        Tally tally = Failure.await(requests.send(get, info -> {
            try {
                head.check(info.statusCode(), info.headers(), info.version());
                return new HttpBody(new Tally(request.work()), firstByte);
            } catch (IOException refused) {
                return HttpBody.refused(refused);
            }
        })).body();
        if (tally.bytes() > 0) {
            throw new IOException("the server refuses ranges of a content that has bytes");
        }
    }
}
