import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * The body of one answer, visited buffer by buffer as the client delivers it; the buffers are not kept. An answer that
 * must not be read is refused: none of it is visited, and the reading has failed.
 */
final class HttpBody implements BodySubscriber<Tally> {
    private final Tally tally;
    private final FirstByte firstByte;
    private final CompletableFuture<Tally> visited = new CompletableFuture<>();

    HttpBody(Tally tally, FirstByte firstByte) {
        this.tally = tally;
        this.firstByte = firstByte;
    }

    /** A body that is not read, because of its head. */
    static HttpBody refused(IOException reason) {
        HttpBody body = new HttpBody(null, null);
        body.visited.completeExceptionally(reason);
        return body;
    }

    @Override
    public CompletionStage<Tally> getBody() {
        return visited;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        // A refused body is not requested. It is not cancelled either: for HTTP/2 that would become the reason.
        if (!visited.isDone()) {
            subscription.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        firstByte.arrived();
        buffers.forEach(tally::take);
    }

    @Override
    public void onError(Throwable failure) {
        visited.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        visited.complete(tally);
    }
}
