import java.io.IOException;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.SplittingTransformerConfiguration;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Visits an object that comes in several responses at once, each with a {@link Visitor}. The SDK's
 * own transformers only do that into a file or into one array; others get one part after the other.
 * The works do not depend on the order of the parts.
 */
final class PartsVisitor extends Visitor<GetObjectResponse> {
    private final Request request;
    private final Window window;
    private final Tally total;
    /** The object's size, by the last answer that has it; else negative. */
    private final AtomicLong size;

    PartsVisitor(Request request, Window window, Tally total) {
        this(request, window, total, new AtomicLong(-1));
    }

    private PartsVisitor(Request request, Window window, Tally total, AtomicLong size) {
        super(request, window, (head, tally) -> added(head, tally, total, size));
        this.size = size;
        this.request = request;
        this.window = window;
        this.total = total;
    }

    @Override
    public SplitResult<GetObjectResponse, GetObjectResponse> split(SplittingTransformerConfiguration ignored) {
        return SplitResult.<GetObjectResponse, GetObjectResponse>builder()
                .publisher(SdkPublisher.fromIterable(this::visitors))
                .resultFuture(new CompletableFuture<>())
                .parallelSplitSupported(true)
                .build();
    }

    /** As many as the SDK asks for; it knows how many parts there are, and cancels then. */
    private Iterator<AsyncResponseTransformer<GetObjectResponse, GetObjectResponse>> visitors() {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public AsyncResponseTransformer<GetObjectResponse, GetObjectResponse> next() {
                return new Visitor<>(request, window, (head, tally) -> added(head, tally, total, size));
            }
        };
    }

    /**
     * The SDK does not compare the parts with the size of the object, if they are those of an
     * upload.
     */
    void checkWhole() throws IOException {
        if (size.get() >= 0 && size.get() != total.bytes()) {
            throw new IOException("the object has " + size.get() + " bytes, " + total.bytes() + " came");
        }
    }

    private static GetObjectResponse added(GetObjectResponse head, Tally part, Tally total, AtomicLong size) {
        total.add(part);
        PartRange.size(head.contentRange()).ifPresent(size::set);
        return head;
    }
}
