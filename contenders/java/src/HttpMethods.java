import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
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
        HttpRequest get = request.http().whole(request.target().server());
        return firstByte.of(request.http().read(client -> {
            HttpRequests requests = new HttpRequests(client);
            Tally tally = Failure.await(requests.send(get, head -> body(head, request, firstByte))).body();
            return requests.counted(tally.answer());
        }));
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
        HttpRequest get = request.http().whole(request.target().server());
        return firstByte.of(request.http().read(client -> {
            HttpRequests requests = new HttpRequests(client);
            HttpResponse<InputStream> response = Failure.await(requests.send(get, BodyHandlers.ofInputStream()));
            return requests.counted(drained(response, request, firstByte));
        }));
    }

    private static Answer drained(HttpResponse<InputStream> response, Request request, FirstByte firstByte)
            throws IOException {
        HttpHead expected = request.http().expected(HttpHead.OK);
        try (InputStream in = response.body()) {
            expected.check(response.statusCode(), response.headers(), response.version());
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
