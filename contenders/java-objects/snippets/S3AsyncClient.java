// needs: the AWS SDK for Java 2: software.amazon.awssdk:s3
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.ResponsePublisher;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

final class S3Buffers {
    /** Counts newlines of an object, s3://bucket/key, in the client's buffers as they come. */
    static long newlines(String uri) {
        String[] parts = uri.split("/", 4);
        AtomicLong newlines = new AtomicLong();
        // forcePathStyle(true): the bucket is in the path; left out for Amazon S3.
        try (S3AsyncClient s3 = S3AsyncClient.builder().forcePathStyle(true).build()) {
            ResponsePublisher<GetObjectResponse> body = s3.getObject(
                            get -> get.bucket(parts[2]).key(parts[3]),
                            AsyncResponseTransformer.<GetObjectResponse>toPublisher())
                    .join();
            body.subscribe(buffer -> newlines.addAndGet(count(buffer))).join();
        }
        return newlines.get();
    }

    private static int count(ByteBuffer buffer) {
        int newlines = 0;
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            if (buffer.get(i) == '\n') {
                newlines++;
            }
        }
        return newlines;
    }

    public static void main(String[] arguments) {
        System.out.println(newlines(arguments[0]));
    }
}
