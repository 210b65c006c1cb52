import java.io.IOException;
import java.net.URL;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;
import software.amazon.awssdk.transfer.s3.S3TransferManager;
import software.amazon.awssdk.transfer.s3.model.DownloadRequest;
import software.amazon.awssdk.transfer.s3.model.PresignedDownloadRequest;

/**
 * Downloads by {@link S3TransferManager}, over the SDK's multipart client in Java.
 *
 * <p>Of an object, that client requests the parts in which it was uploaded, whatever size they
 * have. Only of a presigned URL it requests ranges of a size that the program chose; so {@link
 * #ranges} signs a URL first, within the window.
 */
final class TransferSource implements Source {
    private static final Duration SIGNED_FOR = Duration.ofHours(1);
    private static final long PART_BYTES = 8_388_608;

    private final Request request;
    private final Observer observer = new Observer();
    private final S3AsyncClient client;
    private final S3TransferManager manager;
    private final S3Presigner presigner;
    private final boolean byRanges;

    private TransferSource(Request request, boolean byRanges) {
        this.request = request;
        this.byRanges = byRanges;
        int concurrency = request.intParam("concurrency");
        long partBytes = request.params().getOrDefault("part_bytes", PART_BYTES);
        this.client = Clients.asynchronous(request.profile(), observer, concurrency, builder -> builder
                .multipartEnabled(true)
                .multipartConfiguration(parts -> parts
                        .minimumPartSizeInBytes(partBytes)
                        .parallelConfiguration(parallel -> parallel.maxInFlightParts(concurrency))));
        this.manager = S3TransferManager.builder().s3Client(client).build();
        this.presigner = Clients.presigner(request.profile());
    }

    static Source ranges(Request request) {
        return new TransferSource(request, true);
    }

    static Source uploadedParts(Request request) {
        return new TransferSource(request, false);
    }

    @Override
    public Tally read(Window window) throws IOException, InterruptedException {
        observer.observe(window);
        Tally total = new Tally(request.work());
        PartsVisitor visitor = new PartsVisitor(request, window, total);
        Failure.await(download(visitor));
        visitor.checkWhole();
        return total;
    }

    private CompletableFuture<?> download(PartsVisitor visitor) {
        if (!byRanges) {
            return manager.download(DownloadRequest.builder()
                            .getObjectRequest(request.get())
                            .responseTransformer(visitor)
                            .build())
                    .completionFuture();
        }
        return manager.downloadWithPresignedUrl(PresignedDownloadRequest.builder()
                        .presignedUrlDownloadRequest(url -> url
                                .presignedUrl(url())
                                .ifMatch(request.profile().etag().orElse(null)))
                        .responseTransformer(visitor)
                        .build())
                .completionFuture();
    }

    private URL url() {
        ObjectName object = request.object();
        if (!request.profile().signs()) {
            return client.utilities().getUrl(url -> url.bucket(object.bucket()).key(object.key()));
        }
        return presigner.presignGetObject(sign -> sign
                        .signatureDuration(SIGNED_FOR)
                        .getObjectRequest(get -> get.bucket(object.bucket()).key(object.key())))
                .url();
    }

    @Override
    public void close() {
        presigner.close();
        manager.close();
        client.close();
    }
}
