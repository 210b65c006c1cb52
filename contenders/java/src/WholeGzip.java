import java.io.FileInputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A GZIPInputStream whose last member must reach to the end of the file: by itself it takes what is no
 * further member for the end, so that a member with a broken head would be missing without a word.
 */
final class WholeGzip extends GZIPInputStream {
    private static final int TRAILER_BYTES = 8;

    private final FileInputStream file;
    private long filled;

    WholeGzip(FileInputStream file) throws IOException {
        super(file);
        this.file = file;
    }

    /** Where the file stands whenever the inflater was given new bytes: all of them lie before. */
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
            if (end != file.getChannel().size()) {
                throw new ZipException(
                        "what stands behind the last gzip member, from byte " + end + " on, is no gzip");
            }
        }
        return read;
    }
}
