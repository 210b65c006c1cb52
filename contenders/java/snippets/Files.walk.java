// usual: yes
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.stream.Stream;

final class Newlines {
    /** Counts newlines of every regular file below a folder. Links are not followed. */
    static long below(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                    .mapToLong(Newlines::of)
                    .sum();
        }
    }

    private static long of(Path path) {
        try {
            long newlines = 0;
            for (byte b : Files.readAllBytes(path)) {
                if (b == '\n') {
                    newlines++;
                }
            }
            return newlines;
        } catch (IOException cause) {
            throw new UncheckedIOException(path.toString(), cause);
        }
    }
}
