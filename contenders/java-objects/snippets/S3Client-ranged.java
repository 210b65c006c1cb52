// needs: the AWS SDK for Java 2: software.amazon.awssdk:s3
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.LongStream;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

final class S3Ranges {
    private static final long PART_BYTES = 8388608; // = part_bytes
    private static final int CONCURRENCY = 8; // = concurrency

    /** Counts newlines of an object, s3://bucket/key, by ranges that come at once. */
    static long newlines(String uri) throws InterruptedException, ExecutionException {
        String[] parts = uri.split("/", 4);
        // forcePathStyle(true): the bucket is in the path; left out for Amazon S3.
        try (S3Client s3 = S3Client.builder()
                .httpClientBuilder(Apache5HttpClient.builder().maxConnections(CONCURRENCY))
                .forcePathStyle(true)
                .build()) {
            HeadObjectResponse head = s3.headObject(request -> request.bucket(parts[2]).key(parts[3]));
            LongStream starts = LongStream.iterate(0, at -> at < head.contentLength(), at -> at + PART_BYTES);
            return new ForkJoinPool(CONCURRENCY)
                    .submit(() -> starts.parallel().map(start -> range(s3, parts, head.eTag(), start)).sum())
                    .get();
        }
    }

    private static long range(S3Client s3, String[] parts, String etag, long start) {
        String range = "bytes=" + start + "-" + (start + PART_BYTES - 1);
        // ifMatch: all ranges are of one version of the object.
        try (InputStream body =
                s3.getObject(get -> get.bucket(parts[2]).key(parts[3]).range(range).ifMatch(etag))) {
            byte[] buffer = new byte[65536];
            long newlines = 0;
            for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
                for (int i = 0; i < length; i++) {
                    newlines += buffer[i] == '\n' ? 1 : 0;
                }
            }
            return newlines;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public static void main(String[] arguments) throws InterruptedException, ExecutionException {
        System.out.println(newlines(arguments[0]));
    }
}
