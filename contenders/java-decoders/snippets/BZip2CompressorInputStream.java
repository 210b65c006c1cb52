// needs: the library Commons Compress: org.apache.commons:commons-compress
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;

final class Bzip2 {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines of what comes out of the streams of a bzip2. */
    static long newlines(Path path) throws IOException {
        try (FileInputStream bytes = new FileInputStream(path.toFile());
                InputStream file = new BufferedInputStream(bytes, BUFFER_BYTES);
                InputStream in = new BZip2CompressorInputStream(file, true)) {
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
