// usual: yes
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

final class Lines {
    private static final boolean PARALLEL = false; // = parallel

    /** Counts lines; each is a new String. */
    static long count(Path path) throws IOException {
        try (Stream<String> lines = Files.lines(path)) {
            return (PARALLEL ? lines.parallel() : lines).count();
        }
    }
}
