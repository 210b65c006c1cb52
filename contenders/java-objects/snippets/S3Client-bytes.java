// needs: the AWS SDK for Java 2: software.amazon.awssdk:s3
import software.amazon.awssdk.services.s3.S3Client;

final class S3Bytes {
    /** Counts newlines of an object, s3://bucket/key, which is in memory as a whole. */
    static long newlines(String uri) {
        String[] parts = uri.split("/", 4);
        // forcePathStyle(true): the bucket is in the path; left out for Amazon S3.
        try (S3Client s3 = S3Client.builder().forcePathStyle(true).build()) {
            byte[] bytes = s3.getObjectAsBytes(get -> get.bucket(parts[2]).key(parts[3])).asByteArrayUnsafe();
            long newlines = 0;
            for (byte b : bytes) {
                if (b == '\n') {
                    newlines++;
                }
            }
            return newlines;
        }
    }

    public static void main(String[] arguments) {
        System.out.println(newlines(arguments[0]));
    }
}
