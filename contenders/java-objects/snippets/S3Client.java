// needs: the AWS SDK for Java 2: software.amazon.awssdk:s3
// usual: yes
import java.io.IOException;
import java.io.InputStream;
import software.amazon.awssdk.services.s3.S3Client;

final class S3Stream {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines of an object, s3://bucket/key, with the variables of the AWS tools. */
    static long newlines(String uri) throws IOException {
        String[] parts = uri.split("/", 4);
        // forcePathStyle(true): the bucket is in the path; left out for Amazon S3.
        try (S3Client s3 = S3Client.builder().forcePathStyle(true).build();
                InputStream body = s3.getObject(get -> get.bucket(parts[2]).key(parts[3]))) {
            byte[] buffer = new byte[BUFFER_BYTES];
            long newlines = 0;
            for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
                for (int i = 0; i < length; i++) {
                    if (buffer[i] == '\n') {
                        newlines++;
                    }
                }
            }
            return newlines;
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.out.println(newlines(arguments[0]));
    }
}
