import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;

final class Newlines extends OutputStream {
    private long newlines;

    @Override
    public void write(int b) {
        newlines += b == '\n' ? 1 : 0;
    }

    @Override
    public void write(byte[] bytes, int start, int length) {
        for (int i = start; i < start + length; i++) {
            write(bytes[i]);
        }
    }

    /** Counts newlines as the stream writes its bytes. */
    static long newlines(Path path) throws IOException {
        Newlines counter = new Newlines();
        try (InputStream in = new FileInputStream(path.toFile())) {
            in.transferTo(counter);
        }
        return counter.newlines;
    }
}
