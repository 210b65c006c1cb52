import java.io.IOException;
import java.net.http.HttpClient.Version;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the head of an answer must be, or the reading has failed.
 *
 * @param status of the answer; every other one is a failure
 * @param etag of the answer, if one was asked for
 * @param version of HTTP that the answer must have
 * @param range the first and the last byte asked for; empty for the whole
 */
record HttpHead(int status, Optional<String> etag, Version version, List<Long> range) {
    static final int OK = 200;
    static final int PARTIAL_CONTENT = 206;
    static final int RANGE_NOT_SATISFIABLE = 416;

    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    /** The same for a range of bytes, its last one included. */
    HttpHead ofRange(long first, long last) {
        return new HttpHead(status, etag, version, List.of(first, last));
    }

    /** The same for one version of the content. */
    HttpHead ofVersion(Optional<String> seen) {
        return new HttpHead(status, etag.or(() -> seen), version, range);
    }

    void check(int answered, HttpHeaders headers, Version spoken) throws IOException {
        if (answered != status) {
            throw new IOException(answered == OK && status == PARTIAL_CONTENT
                    ? "a range was asked for, the answer is the whole"
                    : "HTTP status " + answered);
        }
        if (spoken != version) {
            throw new IOException("the server does not speak " + (version == Version.HTTP_2 ? "HTTP/2" : "HTTP/1.1"));
        }
        Optional<String> encoding = headers.firstValue("Content-Encoding").filter(word -> !word.equals("identity"));
        if (encoding.isPresent()) {
            throw new IOException("the answer has a content encoding: " + encoding.get());
        }
        if (etag.isPresent() && !etag.equals(headers.firstValue("ETag"))) {
            throw new IOException("the answer has another ETag");
        }
    }

    /** The size of the content, from the {@code Content-Range} of an answer that has this range and no other. */
    long size(HttpHeaders headers) throws IOException {
        String header = headers.firstValue("Content-Range").orElse("none");
        String asked = "bytes " + range.get(0) + "-" + range.get(1) + " were asked for, the answer has ";
        Matcher words = CONTENT_RANGE.matcher(header);
        if (!words.matches()) {
            throw new IOException(asked + "no range");
        }
        long size = Long.parseLong(words.group(3));
        long last = Math.min(range.get(1), size - 1);
        if (Long.parseLong(words.group(1)) != range.get(0) || Long.parseLong(words.group(2)) != last) {
            throw new IOException(asked + header);
        }
        return size;
    }
}
