import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.List;

/**
 * The methods over HTTP, by java.net.http: the body is visited buffer by buffer as it arrives, or
 * as an {@link InputStream}, or as ranges that arrive at once ({@link HttpRanges}). {@link
 * HttpSession} has the clients.
 */
final class HttpMethods {
    private static final String HOW = "GET by java.net.http.HttpClient, ";
    private static final Param BUFFER = new Param("buffer_bytes", 16_384, 1, StreamMethods.BUFFER_MAX);

    static final List<Method> ALL = List.of(
            Method.ofBytes("HttpClient", HOW + "the client's buffers visited as they come (BodySubscriber)",
                    List.of(Method.LOOP), HttpMethods::flow, HttpSession.KEPT, HttpSession.HTTP).ofUrls(),
            Method.ofBytes("HttpClient-stream", HOW + "its InputStream read into one array",
                    List.of(Method.LOOP), HttpMethods::stream, BUFFER, HttpSession.KEPT, HttpSession.HTTP).ofUrls(),
            Method.ofBytes("HttpClient-ranged",
                    "ranges by sendAsync of java.net.http.HttpClient, their buffers visited as they come",
                    List.of(Method.LOOP), HttpRanges::read, HttpRanges.PART, HttpRanges.CONCURRENCY, HttpSession.KEPT,
                    HttpSession.HTTP).ofUrls());

    private HttpMethods() {}

    private static Answer flow(Request request) throws IOException, InterruptedException {
        FirstByte firstByte = new FirstByte();
        URI url = request.target().server();
        HttpSession session = request.http();
        Answer answer = session.read(client -> unwrapped(client, request, firstByte, url));
        return firstByte.of(answer, 1);
    }

    // The client wraps a failure of the body into an exception that names the client's classes.
    private static Answer unwrapped(HttpClient client, Request request, FirstByte firstByte, URI url)
            throws IOException, InterruptedException {
        try {
            HttpSession session = request.http();
            return client.send(session.whole(url), info -> body(info, request, firstByte)).body().answer();
        } catch (IOException failure) {
            throw Failure.ofBody(failure);
        }
    }

    private static BodySubscriber<Tally> body(ResponseInfo info, Request request, FirstByte firstByte) {
        try {
            request.http().expected(HttpHead.OK).check(info.statusCode(), info.headers(), info.version());
            return new HttpBody(new Tally(request.work()), firstByte);
        } catch (IOException refused) {
            return HttpBody.refused(refused);
        }
    }

    private static Answer stream(Request request) throws IOException, InterruptedException {
        FirstByte firstByte = new FirstByte();
        URI url = request.target().server();
        Answer answer = request.http().read(client -> drained(client, request, firstByte, url));
        return firstByte.of(answer, 1);
    }

    private static Answer drained(HttpClient client, Request request, FirstByte firstByte, URI url)
            throws IOException, InterruptedException {
        HttpSession session = request.http();
        HttpResponse<InputStream> response = client.send(session.whole(url), BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            session.expected(HttpHead.OK).check(response.statusCode(), response.headers(), response.version());
            return visited(in, request, firstByte);
        } catch (IOException failure) {
            throw Failure.ofBody(failure);
        }
    }

    private static Answer visited(InputStream in, Request request, FirstByte firstByte) throws IOException {
        Tally tally = new Tally(request.work());
        byte[] buffer = new byte[request.intParam("buffer_bytes")];
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
            firstByte.arrived();
            tally.take(buffer, length);
        }
        return tally.answer();
    }
}
