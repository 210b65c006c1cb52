import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The dictionary of a session: the file that READLAB_DICTIONARY names.
 *
 * <p>Java decodes its environment by the locale; the exact bytes of the name are in
 * /proc/self/environ.
 */
final class Dictionary {
    private static final String VARIABLE = "READLAB_DICTIONARY";
    private static final Path ENVIRONMENT = Path.of("/proc/self/environ");

    private Dictionary() {}

    /** Its bytes; empty if none is named. */
    static Optional<byte[]> read() throws Refusal {
        String shown = System.getenv(VARIABLE);
        if (shown == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Files.readAllBytes(path()));
        } catch (IOException cause) {
            throw new Refusal(shown + ": " + Failure.cause(cause));
        }
    }

    private static Path path() throws IOException {
        String mark = VARIABLE + "=";
        String all = Files.readString(ENVIRONMENT, StandardCharsets.ISO_8859_1);
        String name = Stream.of(all.split("\0"))
                .filter(entry -> entry.startsWith(mark) && entry.length() > mark.length())
                .findFirst()
                .orElseThrow(() -> new IOException(VARIABLE + " names no file"))
                .substring(mark.length());
        return Target.exactPath(name.getBytes(StandardCharsets.ISO_8859_1));
    }
}
