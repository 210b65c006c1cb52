import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;

/**
 * The methods over HTTP, by java.net.http: the body is visited buffer by buffer as it arrives, or as an {@link
 * InputStream}.
 *
 * <p>One client serves the session, because the class is meant to be used so, and because a client of JDK 17 cannot
 * be closed. Each reading has a separate connection, which the server closes. No proxy and no redirect: every method
 * must request the same bytes from the same server.
 */
final class HttpMethods {
    private static final int OK = 200;
    private static final String HOW = "GET by java.net.http.HttpClient, HTTP/1.1, a connection for each reading, ";
    private static final Param BUFFER = new Param("buffer_bytes", 16_384, 1, StreamMethods.BUFFER_MAX);

    static final List<Method> ALL = List.of(
            Method.ofBytes("HttpClient", HOW + "the client's buffers visited as they come (Flow.Subscriber)",
                    List.of(Method.LOOP), HttpMethods::flow).ofUrls(),
            Method.ofBytes("HttpClient-stream", HOW + "its InputStream read into one array",
                    List.of(Method.LOOP), HttpMethods::stream, BUFFER).ofUrls());

    private HttpMethods() {}

    /** Made with the first reading, which is never a timed one in the lab. */
    private static final class Client {
        static final HttpClient ONE = make();

        // The property is read once, when the first client or request is made.
        private static HttpClient make() {
            System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
            return HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .build();
        }
    }

    private static Answer flow(Request request) throws IOException, InterruptedException {
        return get(request, info -> body(info, request.work())).body();
    }

    private static Answer stream(Request request) throws IOException, InterruptedException {
        try (InputStream in = get(request, BodyHandlers.ofInputStream()).body()) {
            return StreamMethods.drain(in, request);
        } catch (IOException closed) {
            // The stream only reports that it is closed; the cause is the reason.
            throw closed.getCause() instanceof IOException cause ? cause : closed;
        }
    }

    private static <T> HttpResponse<T> get(Request request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        URI url = request.target().url().orElseThrow(() -> new IOException("HttpClient reads http:// targets only"));
        HttpClient client = Client.ONE;
        HttpRequest get = HttpRequest.newBuilder(url).header("Connection", "close").build();
        HttpResponse<T> response = client.send(get, handler);
        if (response.statusCode() != OK) {
            if (response.body() instanceof InputStream in) {
                in.close();
            }
            throw new IOException("HTTP status " + response.statusCode());
        }
        return response;
    }

    private static BodySubscriber<Answer> body(ResponseInfo info, Work work) {
        if (info.statusCode() != OK) {
            return BodySubscribers.replacing(new Answer(Map.of()));
        }
        return BodySubscribers.fromSubscriber(new Body(new Tally(work)), body -> body.tally.answer());
    }

    private record Body(Tally tally) implements Flow.Subscriber<List<ByteBuffer>> {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            buffers.forEach(tally::take);
        }

        // The client passes a failure to the caller of send; the answer is read at the end.
        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onComplete() {}
    }
}
