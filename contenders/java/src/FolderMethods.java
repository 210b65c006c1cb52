import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The methods that read every regular file below a folder. Without FOLLOW_LINKS, neither walk
 * follows links.
 */
final class FolderMethods {
    private static final Param BUFFER = new Param("buffer_bytes", 8192, 1, StreamMethods.BUFFER_MAX);
    private static final List<String> LOOP = List.of(Method.LOOP);

    static final List<Method> ALL = List.of(
            Method.ofBytes("Files.walk", "Files.walk, and Files.readAllBytes of each regular file, one after the other",
                    LOOP, request -> walk(request, Stream::sequential)).ofFolders(),
            Method.ofBytes("Files.walk-parallel",
                    "Files.walk and parallel, and Files.readAllBytes of regular files by threads of the common pool",
                    LOOP, request -> walk(request, Stream::parallel)).ofFolders(),
            Method.ofBytes("Files.walkFileTree",
                    "Files.walkFileTree with a SimpleFileVisitor, and a FileInputStream of each file into one array",
                    LOOP, FolderMethods::walkFileTree, BUFFER).ofFolders());

    private FolderMethods() {}

    private static PiecesTally tally(Request request) {
        return new PiecesTally(PiecesTally.FILES, request.work());
    }

    private static Answer walk(Request request, UnaryOperator<Stream<Path>> mode) throws IOException {
        try (Stream<Path> paths = Files.walk(request.target().file())) {
            return mode.apply(paths)
                    .filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                    .map(path -> readAllBytes(request, path))
                    .collect(() -> tally(request), PiecesTally::addFile, PiecesTally::merge)
                    .answer();
        }
    }

    private static Tally readAllBytes(Request request, Path path) {
        try {
            byte[] bytes = Files.readAllBytes(path);
            Tally tally = new Tally(request.work());
            tally.take(bytes, bytes.length);
            return tally;
        } catch (IOException cause) {
            throw new UncheckedIOException(new FileFailure(path, cause));
        }
    }

    private static Answer walkFileTree(Request request) throws IOException {
        PiecesTally found = tally(request);
        byte[] buffer = new byte[request.intParam("buffer_bytes")];
        Files.walkFileTree(request.target().file(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    found.addFile(read(request, path, buffer));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found.answer();
    }

    private static Tally read(Request request, Path path, byte[] buffer) throws IOException {
        Tally tally = new Tally(request.work());
        try (InputStream in = new FileInputStream(Target.legacyFile(path))) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                tally.take(buffer, length);
            }
            return tally;
        } catch (IOException cause) {
            throw new FileFailure(path, cause);
        }
    }
}
