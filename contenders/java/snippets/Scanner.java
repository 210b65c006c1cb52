import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Scanner;

final class Lines {
    /** Counts lines; each is a new String. */
    static long count(Path path) throws IOException {
        try (Scanner scanner = new Scanner(path, StandardCharsets.UTF_8)) {
            long lines = 0;
            while (scanner.hasNextLine()) {
                scanner.nextLine();
                lines++;
            }
            if (scanner.ioException() != null) { // For a Scanner, an error is the end.
                throw scanner.ioException();
            }
            return lines;
        }
    }
}
