import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * The methods for text: bytes are decoded from UTF-8 and, except in one method, a String is made
 * for every line. For all of them a CR without LF ends a line too, so the answer is only correct
 * for files without one; a Scanner ends lines at U+0085, U+2028 and U+2029 as well. The readers
 * replace malformed input; the methods of Files refuse it.
 */
final class LineMethods {
    private static final int CHARS_MAX = 1 << 29;
    private static final Param BUFFER = new Param("buffer_chars", 8192, 1, CHARS_MAX);
    private static final Param READERS = new Param("readers", 1, 1, 64);
    private static final Param PARALLEL = new Param("parallel", 0, 0, 1);

    static final List<Method> ALL = List.of(
            Method.ofLines("BufferedReader",
                    "readLine of a BufferedReader over a FileReader; each of the readers, a thread each, reads the whole file",
                    LineMethods::bufferedReader, BUFFER, READERS),
            Method.ofLines("Files.lines", "Files.lines and count; with parallel=1, by the threads of the common pool",
                    LineMethods::filesLines, PARALLEL),
            Method.ofLines("Files.readAllLines", "Files.readAllLines and size: all lines are held at once",
                    LineMethods::filesReadAllLines),
            Method.ofLines("Files.readString", "Files.readString, lines and count: the whole file in one String",
                    LineMethods::filesReadString),
            Method.ofLines("Scanner", "hasNextLine and nextLine of a Scanner", LineMethods::scanner),
            new Method("FileReader", "read of a FileReader into an array of chars: decoded, but no lines made",
                    Map.of(Work.NEWLINES, List.of(Method.LOOP)), List.of(), List.of(BUFFER),
                    Method.FILE, false, Optional.empty(), LineMethods::fileReader));

    private LineMethods() {}

    private static Answer bufferedReader(Request request) throws Exception {
        int readers = request.intParam("readers");
        Callable<Long> reader = () -> countLines(request);
        return Answer.ofLines(readers == 1 ? reader.call() : agreed(ReaderThreads.each(readers, reader)));
    }

    private static long countLines(Request request) throws IOException {
        try (BufferedReader reader = new BufferedReader(
                new FileReader(request.target().legacyFile(), StandardCharsets.UTF_8),
                request.intParam("buffer_chars"))) {
            return countLines(reader);
        }
    }

    static long countLines(BufferedReader reader) throws IOException {
        long lines = 0;
        while (reader.readLine() != null) {
            lines++;
        }
        return lines;
    }

    private static long agreed(List<Long> counts) throws IOException {
        if (counts.stream().distinct().count() > 1) {
            throw new IOException("the readers disagree on the number of lines: " + counts);
        }
        return counts.get(0);
    }

    private static Answer filesLines(Request request) throws IOException {
        try (Stream<String> lines = Files.lines(request.target().file())) {
            boolean parallel = request.intParam("parallel") == 1;
            return Answer.ofLines((parallel ? lines.parallel() : lines).count());
        }
    }

    private static Answer filesReadAllLines(Request request) throws IOException {
        return Answer.ofLines(Files.readAllLines(request.target().file()).size());
    }

    private static Answer filesReadString(Request request) throws IOException {
        return Answer.ofLines(Files.readString(request.target().file()).lines().count());
    }

    // A Scanner takes an error for the end, and keeps it.
    private static Answer scanner(Request request) throws IOException {
        try (Scanner scanner = new Scanner(request.target().file(), StandardCharsets.UTF_8)) {
            long lines = 0;
            while (scanner.hasNextLine()) {
                scanner.nextLine();
                lines++;
            }
            if (scanner.ioException() != null) {
                throw scanner.ioException();
            }
            return Answer.ofLines(lines);
        }
    }

    private static Answer fileReader(Request request) throws IOException {
        try (FileReader reader = new FileReader(request.target().legacyFile(), StandardCharsets.UTF_8)) {
            char[] chars = new char[request.intParam("buffer_chars")];
            long newlines = 0;
            for (int length = reader.read(chars); length >= 0; length = reader.read(chars)) {
                newlines += newlines(chars, length);
            }
            return Answer.ofNewlines(newlines);
        }
    }

    private static int newlines(char[] chars, int length) {
        int count = 0;
        for (int i = 0; i < length; i++) {
            if (chars[i] == '\n') {
                count++;
            }
        }
        return count;
    }
}
