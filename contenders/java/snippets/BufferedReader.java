// usual: yes
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

final class Lines {
    private static final int BUFFER_CHARS = 8192; // = buffer_chars

    /** Counts lines; each is a new String. */
    static long count(Path path) throws IOException {
        FileReader file = new FileReader(path.toFile(), StandardCharsets.UTF_8);
        try (BufferedReader reader = new BufferedReader(file, BUFFER_CHARS)) {
            long lines = 0;
            while (reader.readLine() != null) {
                lines++;
            }
            return lines;
        }
    }
}
