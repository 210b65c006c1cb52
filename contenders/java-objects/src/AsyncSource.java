import java.io.IOException;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * One request by {@link S3AsyncClient}; its buffers are visited as they come, on the event loop of
 * Netty.
 */
record AsyncSource(S3AsyncClient client, Observer observer, Request request) implements Source {
    static Source open(Request request) {
        Observer observer = new Observer();
        return new AsyncSource(Clients.asynchronous(request.profile(), observer, 1, builder -> {}), observer, request);
    }

    @Override
    public Tally read(Window window) throws IOException, InterruptedException {
        observer.observe(window);
        Tally total = new Tally(request.work());
        Answer.checkWhole(Failure.await(client.getObject(
                request.get(), new Visitor<>(request, window, (head, tally) -> {
                    total.add(tally);
                    return head;
                }))));
        return total;
    }

    @Override
    public void close() {
        client.close();
    }
}
