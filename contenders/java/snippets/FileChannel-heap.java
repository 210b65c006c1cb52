import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

final class Channel {
    private static final int BUFFER_BYTES = 65536; // = buffer_bytes

    /** Counts newlines, buffer by buffer. */
    static long newlines(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
            long newlines = 0;
            while (channel.read(buffer.clear()) >= 0) {
                for (int i = 0; i < buffer.position(); i++) {
                    if (buffer.get(i) == '\n') {
                        newlines++;
                    }
                }
            }
            return newlines;
        }
    }
}
