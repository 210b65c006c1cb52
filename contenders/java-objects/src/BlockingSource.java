import java.io.IOException;
import java.util.Optional;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * The methods of {@link S3Client} with one request: a stream that is read into one array, and all
 * bytes at once.
 */
record BlockingSource(S3Client client, Observer observer, Request request, boolean atOnce) implements Source {
    static Source stream(Request request) {
        return open(request, false);
    }

    static Source bytes(Request request) {
        return open(request, true);
    }

    private static Source open(Request request, boolean atOnce) {
        Observer observer = new Observer();
        return new BlockingSource(Clients.blocking(request.profile(), observer, 1), observer, request, atOnce);
    }

    @Override
    public Tally read(Window window) throws IOException {
        observer.observe(window);
        return atOnce ? readAtOnce() : readStream(window);
    }

    private Tally readStream(Window window) throws IOException {
        Tally tally = new Tally(request.work());
        byte[] buffer = new byte[request.intParam("buffer_bytes")];
        ResponseInputStream<GetObjectResponse> body = client.getObject(request.get());
        visit(body, request.profile().etag(), window, tally, buffer);
        Answer.checkWhole(body.response());
        return tally;
    }

    private Tally readAtOnce() throws IOException {
        GetObjectRequest get = request.get();
        ResponseBytes<GetObjectResponse> answer = client.getObjectAsBytes(get);
        Answer.check(answer.response(), request.profile().etag());
        Answer.checkWhole(answer.response());
        byte[] bytes = answer.asByteArrayUnsafe();
        Tally tally = new Tally(request.work());
        tally.take(bytes, bytes.length);
        Answer.checkLength(answer.response(), tally.bytes());
        return tally;
    }

    /** Reads a response to its end; after a failure its connection is not used again. */
    static void visit(
            ResponseInputStream<GetObjectResponse> body, Optional<String> etag, Window window, Tally tally,
            byte[] buffer) throws IOException {
        try (body) {
            long before = tally.bytes();
            Answer.check(body.response(), etag);
            for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
                window.byteArrived();
                tally.take(buffer, length);
            }
            Answer.checkLength(body.response(), tally.bytes() - before);
        } catch (IOException | RuntimeException failure) {
            body.abort();
            throw failure;
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
