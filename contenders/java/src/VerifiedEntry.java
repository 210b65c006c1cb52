import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;

/** The bytes of a zip entry, compared with the checksum and size in the archive's directory. */
final class VerifiedEntry extends CheckedInputStream {
    private final ZipEntry entry;
    private long length;

    VerifiedEntry(InputStream in, ZipEntry entry) {
        super(in, new CRC32());
        this.entry = entry;
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = super.read(bytes, offset, room);
        if (read < 0) {
            check();
        }
        length += Math.max(read, 0);
        return read;
    }

    private void check() throws ZipException {
        if (length != entry.getSize()) {
            throw new ZipException(
                    "entry '" + entry.getName() + "' has " + length + " bytes, not " + entry.getSize());
        }
        if (getChecksum().getValue() != entry.getCrc()) {
            throw new ZipException("entry '" + entry.getName() + "' does not have the checksum that the zip says");
        }
    }
}
