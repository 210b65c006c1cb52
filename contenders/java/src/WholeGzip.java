import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A GZIPInputStream whose last member must reach to the end of the file, or to zeros that fill it: GZIPInputStream
 * treats everything that is not another member as the end, so a member with a broken head would be missing without an
 * error.
 */
final class WholeGzip extends GZIPInputStream {
    private static final int TRAILER_BYTES = 8;

    private final FileInputStream file;
    private long filled;

    WholeGzip(FileInputStream file) throws IOException {
        super(file);
        this.file = file;
    }

    /** The position of the file after each time the inflater got new bytes. */
    @Override
    protected void fill() throws IOException {
        super.fill();
        filled = file.getChannel().position();
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = super.read(bytes, offset, room);
        if (read < 0) {
            long end = filled - inf.getRemaining() + TRAILER_BYTES;
            if (end != file.getChannel().size() && !isZeroFrom(end)) {
                throw new ZipException(
                        "the content behind the last gzip member, from byte " + end + " on, is no gzip");
            }
        }
        return read;
    }

    /** Whether the file has nothing but zeros from a byte on: gzip takes them for padding. */
    private boolean isZeroFrom(long at) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(1 << 16);
        for (int count; (count = file.getChannel().read(chunk.clear(), at)) > 0; at += count) {
            for (int i = 0; i < count; i++) {
                if (chunk.get(i) != 0) {
                    return false;
                }
            }
        }
        return true;
    }
}
