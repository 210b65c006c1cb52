import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder for the files of a test, which is removed with them when it is closed. */
record TestFolder(Path path) implements AutoCloseable {
    static TestFolder make() throws IOException {
        return new TestFolder(Files.createTempDirectory("readlab-java-test"));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path inside : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(inside);
            }
        }
    }
}
