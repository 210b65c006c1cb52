// needs: the library lz4-java: at.yawk.lz4:lz4-java
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import net.jpountz.lz4.LZ4FrameInputStream;

final class Lz4 {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines of what comes out of the frames of an lz4. */
    static long newlines(Path path) throws IOException {
        try (FileInputStream bytes = new FileInputStream(path.toFile());
                InputStream file = new BufferedInputStream(bytes, BUFFER_BYTES);
                InputStream in = new LZ4FrameInputStream(file)) {
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
