import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;

/**
 * A target behind http, streamed by java.net.http: the body is visited buffer by buffer as it comes.
 *
 * <p>One client serves the session, as the class is meant to be used and because a client of JDK 17
 * cannot be closed; each reading has a connection of its own, which the server closes behind it.
 */
final class HttpMethods {
    private static final int OK = 200;

    static final List<Method> ALL = List.of(
            Method.ofBytes("HttpClient", "GET by java.net.http.HttpClient, HTTP/1.1, a connection for each reading, streamed",
                    List.of(Method.LOOP), HttpMethods::get));

    private HttpMethods() {}

    /** Made with the first reading, which is never a timed one in the lab. */
    private static final class Client {
        static final HttpClient ONE = make();

        // The property is looked at once, when the first client or request is made.
        private static HttpClient make() {
            System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
            return HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .build();
        }
    }

    private static Answer get(Request request) throws IOException, InterruptedException {
        URI url = request.target().url().orElseThrow(() -> new IOException("HttpClient reads http:// targets only"));
        HttpClient client = Client.ONE;
        HttpRequest get = HttpRequest.newBuilder(url).header("Connection", "close").build();
        HttpResponse<Answer> response = client.send(get, info -> body(info, request.work()));
        if (response.statusCode() != OK) {
            throw new IOException("HTTP status " + response.statusCode());
        }
        return response.body();
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

        // The client hands a failure to the caller of send, and the answer is asked for at the end.
        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onComplete() {}
    }
}
