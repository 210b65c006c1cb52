import java.io.IOException;
import java.util.Optional;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * What a response must be to count as an answer: the object asked for, its bytes as they are, and
 * as many as promised. The SDK checks less: that the connection did not end early, and the checksum
 * if there is one for the whole.
 */
final class Answer {
    private Answer() {}

    /** Checks the head of a response, before its bytes are visited. */
    static void check(GetObjectResponse head, Optional<String> etag) throws IOException {
        String encoding = head.contentEncoding();
        if (encoding != null && !encoding.isEmpty() && !encoding.equals("identity")) {
            throw new IOException("the answer has a content encoding: " + encoding);
        }
        // Netty takes the end of the connection for the end of a chunked body.
        if (head.contentLength() == null) {
            throw new IOException("the answer does not say its length");
        }
        if (etag.isPresent() && !etag.get().equals(head.eTag())) {
            throw new IOException("the answer has another ETag");
        }
    }

    /** Checks that the answer is the whole object. */
    static void checkWhole(GetObjectResponse head) throws IOException {
        if (head.contentRange() != null) {
            throw new IOException("the whole was asked for, the answer is a range");
        }
    }

    /** Checks that as many bytes came as the head promised. */
    static void checkLength(GetObjectResponse head, long bytes) throws IOException {
        if (head.contentLength() != bytes) {
            throw new IOException("the answer promised " + head.contentLength() + " bytes, " + bytes + " came");
        }
    }
}
