// needs: Java 22
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

final class Mapped {
    /** Counts newlines where the file is mapped; the mapping ends with its arena. */
    static long newlines(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            MemorySegment file = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            long newlines = 0;
            for (long i = 0; i < file.byteSize(); i++) {
                if (file.get(ValueLayout.JAVA_BYTE, i) == '\n') {
                    newlines++;
                }
            }
            return newlines;
        }
    }
}
