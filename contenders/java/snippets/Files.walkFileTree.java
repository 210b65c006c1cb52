import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

final class Newlines extends SimpleFileVisitor<Path> {
    private static final int BUFFER_BYTES = 8192; // = buffer_bytes

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private long newlines;

    /** Counts newlines of every regular file below a folder. Links are not followed. */
    static long below(Path folder) throws IOException {
        Newlines visitor = new Newlines();
        Files.walkFileTree(folder, visitor);
        return visitor.newlines;
    }

    @Override
    public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) throws IOException {
        if (attributes.isRegularFile()) {
            try (InputStream in = new FileInputStream(path.toFile())) {
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    for (int i = 0; i < length; i++) {
                        if (buffer[i] == '\n') {
                            newlines++;
                        }
                    }
                }
            }
        }
        return FileVisitResult.CONTINUE;
    }
}
