// needs: the library org.brotli:dec
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.brotli.dec.BrotliInputStream;

final class Brotli {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines of what comes out of a brotli. */
    static long newlines(Path path) throws IOException {
        try (FileInputStream bytes = new FileInputStream(path.toFile());
                InputStream file = new BufferedInputStream(bytes, BUFFER_BYTES);
                InputStream in = new BrotliInputStream(file)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            long newlines = 0;
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                for (int i = 0; i < length; i++) {
                    if (buffer[i] == '\n') {
                        newlines++;
                    }
                }
            }
            return newlines;
        }
    }
}
