import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Visits the buffers of one response as they come, on the thread that received them. If the SDK repeats the request,
 * it prepares the visitor again, which then forgets what it visited.
 *
 * @param <T> what the response and the tally of its bytes become
 */
class Visitor<T> implements AsyncResponseTransformer<GetObjectResponse, T> {
    private final Request request;
    private final Window window;
    private final BiFunction<GetObjectResponse, Tally, T> finish;
    private volatile CompletableFuture<T> result;
    private volatile GetObjectResponse head;

    Visitor(Request request, Window window, BiFunction<GetObjectResponse, Tally, T> finish) {
        this.request = request;
        this.window = window;
        this.finish = finish;
    }

    @Override
    public final CompletableFuture<T> prepare() {
        result = new CompletableFuture<>();
        return result;
    }

    @Override
    public final void onResponse(GetObjectResponse response) {
        head = response;
    }

    @Override
    public final void onStream(SdkPublisher<ByteBuffer> body) {
        body.subscribe(new Body(result, head, new Tally(request.work())));
    }

    @Override
    public final void exceptionOccurred(Throwable failure) {
        result.completeExceptionally(failure);
    }

    /** The body of one attempt. */
    private final class Body implements Subscriber<ByteBuffer> {
        private final CompletableFuture<T> result;
        private final GetObjectResponse head;
        private final Tally tally;

        Body(CompletableFuture<T> result, GetObjectResponse head, Tally tally) {
            this.result = result;
            this.head = head;
            this.tally = tally;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            try {
                Answer.check(head, request.profile().etag());
            } catch (IOException failure) {
                subscription.cancel();
                result.completeExceptionally(failure);
                return;
            }
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(ByteBuffer buffer) {
            window.byteArrived();
            tally.take(buffer);
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            try {
                Answer.checkLength(head, tally.bytes());
                result.complete(finish.apply(head, tally));
            } catch (IOException failure) {
                result.completeExceptionally(failure);
            }
        }
    }
}
