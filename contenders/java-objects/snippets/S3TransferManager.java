// needs: the AWS SDK for Java 2: software.amazon.awssdk:s3-transfer-manager
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;
import software.amazon.awssdk.transfer.s3.S3TransferManager;

final class S3Transfer {
    private static final long PART_BYTES = 8388608; // = part_bytes
    private static final int CONCURRENCY = 8; // = concurrency

    /** Downloads an object, s3://bucket/key, by ranges that come at once, and counts newlines of the file. */
    static long newlines(String uri) throws IOException {
        Path file = Files.createTempFile("object", null);
        try {
            download(uri, file);
            try (InputStream in = Files.newInputStream(file)) {
                byte[] buffer = new byte[65536];
                long newlines = 0;
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    for (int i = 0; i < length; i++) {
                        newlines += buffer[i] == '\n' ? 1 : 0;
                    }
                }
                return newlines;
            }
        } finally {
            Files.delete(file);
        }
    }

    // The manager asks for ranges of a presigned URL; of an object, for the parts in which it was uploaded.
    private static void download(String uri, Path file) {
        String[] parts = uri.split("/", 4);
        // Path style: the bucket is in the path; left out for Amazon S3.
        S3Configuration style = S3Configuration.builder().pathStyleAccessEnabled(true).build();
        try (S3Presigner presigner = S3Presigner.builder().serviceConfiguration(style).build();
                S3AsyncClient s3 = S3AsyncClient.builder()
                        .multipartEnabled(true)
                        .multipartConfiguration(multipart -> multipart
                                .minimumPartSizeInBytes(PART_BYTES)
                                .parallelConfiguration(parallel -> parallel.maxInFlightParts(CONCURRENCY)))
                        .build();
                S3TransferManager manager = S3TransferManager.builder().s3Client(s3).build()) {
            URL url = presigner.presignGetObject(sign -> sign
                            .signatureDuration(Duration.ofHours(1))
                            .getObjectRequest(get -> get.bucket(parts[2]).key(parts[3])))
                    .url();
            manager.downloadFileWithPresignedUrl(to -> to
                            .presignedUrlDownloadRequest(from -> from.presignedUrl(url))
                            .destination(file))
                    .completionFuture()
                    .join();
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.out.println(newlines(arguments[0]));
    }
}
