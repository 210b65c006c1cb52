import java.io.IOException;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A range of the object that one request asks for.
 *
 * @param start its first byte
 * @param length how many bytes it has; the last range of an object ends with the object
 */
record PartRange(long start, long length) {
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    /** The object's size, if a {@code Content-Range} has it. */
    static OptionalLong size(String contentRange) {
        Matcher words = CONTENT_RANGE.matcher(contentRange == null ? "" : contentRange);
        return words.matches() ? OptionalLong.of(Long.parseLong(words.group(3))) : OptionalLong.empty();
    }

    /** The value of the header {@code Range}. */
    String header() {
        return "bytes=" + start + "-" + (start + length - 1);
    }

    /**
     * The object's size, from the {@code Content-Range} of an answer that has this range and no
     * other.
     */
    long sizeBehind(String contentRange) throws IOException {
        Matcher words = CONTENT_RANGE.matcher(contentRange == null ? "" : contentRange);
        if (!words.matches()) {
            throw new IOException("asked for " + header() + ", but the answer has no range");
        }
        long size = Long.parseLong(words.group(3));
        long end = Math.min(start + length, size);
        if (Long.parseLong(words.group(1)) != start || Long.parseLong(words.group(2)) != end - 1) {
            throw new IOException("asked for " + header() + ", the answer has " + contentRange);
        }
        return size;
    }
}
