import java.io.IOException;
import java.nio.file.Path;

/** One of several files was not read; the cause says why. */
final class FileFailure extends IOException {
    private static final long serialVersionUID = 1L;

    private final String shown;

    FileFailure(Path path, IOException cause) {
        super(cause);
        shown = path.toString();
    }

    /** The path for messages; perhaps not exact. */
    String shown() {
        return shown;
    }
}
