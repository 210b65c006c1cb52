// needs: the library XZ for Java: org.tukaani:xz
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.tukaani.xz.XZInputStream;

final class Xz {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines of what comes out of the streams of an xz. */
    static long newlines(Path path) throws IOException {
        try (FileInputStream bytes = new FileInputStream(path.toFile());
                InputStream file = new BufferedInputStream(bytes, BUFFER_BYTES);
                InputStream in = new XZInputStream(file)) {
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
