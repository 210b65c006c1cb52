import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The content of the entries of a zip, in order; each is opened at the end of the one before. */
final class Entries extends InputStream {
    private final ZipFile zip;
    private final Iterator<ZipEntry> left;
    private final boolean verify;
    private InputStream current = InputStream.nullInputStream();

    Entries(ZipFile zip, List<ZipEntry> entries, boolean verify) {
        this.zip = zip;
        this.left = entries.iterator();
        this.verify = verify;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = current.read(bytes, offset, room);
        while (read < 0) {
            if (!left.hasNext()) {
                return -1;
            }
            current.close();
            ZipEntry entry = left.next();
            InputStream content = zip.getInputStream(entry);
            current = verify ? new VerifiedEntry(content, entry) : content;
            read = current.read(bytes, offset, room);
        }
        return read;
    }

    @Override
    public void close() throws IOException {
        current.close();
    }
}
