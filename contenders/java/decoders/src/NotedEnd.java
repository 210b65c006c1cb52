import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A file that notes whether a read met its end. */
final class NotedEnd extends FilterInputStream {
    private boolean met;

    NotedEnd(InputStream file) {
        super(file);
    }

    @Override
    public int read() throws IOException {
        int one = in.read();
        met |= one < 0;
        return one;
    }

    @Override
    public int read(byte[] bytes, int offset, int room) throws IOException {
        int read = in.read(bytes, offset, room);
        met |= read < 0;
        return read;
    }

    boolean isMet() {
        return met;
    }
}
