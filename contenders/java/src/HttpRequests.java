import java.io.EOFException;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests of one reading, counted. A request whose connection ended before its answer began is
 * repeated, as the client does it by default: a server may close a connection that was kept, or end
 * it after some number of requests. The client does not say when it repeats, so it is done here.
 */
final class HttpRequests {
    private static final int ATTEMPTS = 5;
    private static final String ENDED = ATTEMPTS + " connections ended before an answer";

    private final HttpClient client;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong repeated = new AtomicLong();

    HttpRequests(HttpClient client) {
        this.client = client;
    }

    <T> CompletableFuture<HttpResponse<T>> send(HttpRequest request, BodyHandler<T> handler) {
        return send(request, handler, 1);
    }

    private <T> CompletableFuture<HttpResponse<T>> send(HttpRequest request, BodyHandler<T> handler, int attempt) {
        sent.incrementAndGet();
        AtomicBoolean answered = new AtomicBoolean();
        return client.sendAsync(request, head -> {
                    answered.set(true);
                    return handler.apply(head);
                })
                .exceptionallyCompose(failure -> {
                    if (answered.get() || !endedConnection(failure)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    if (attempt == ATTEMPTS) {
                        return CompletableFuture.failedFuture(new IOException(ENDED));
                    }
                    repeated.incrementAndGet();
                    return send(request, handler, attempt + 1);
                });
    }

    /** Not those that say that there was no connection: they have classes of their own. */
    private static boolean endedConnection(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause.getClass() == IOException.class || cause instanceof EOFException;
    }

    /** The answer with the counts. */
    Answer counted(Answer answer) {
        return answer.with("requests", sent.get()).with("retries", repeated.get());
    }
}
