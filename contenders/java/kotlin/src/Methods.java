import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The methods of the contender kotlin: this list replaces the one of the contender java. What reads
 * is written in Kotlin.
 *
 * <p>For methods of lines a CR without LF ends a line too. Those of File replace what is no UTF-8,
 * that of Path refuses it.
 */
final class Methods {
    /** The name of the contender. */
    static final String CONTENDER = "kotlin";

    private static final int BYTES_MAX = 1 << 30;
    /** Kotlin reads no smaller blocks. */
    private static final Param BLOCK = new Param("block_bytes", 4096, 512, BYTES_MAX);
    private static final Param BUFFER = new Param("buffer_bytes", 8192, 1, BYTES_MAX);

    static final List<Method> ALL = List.of(
            lines("File.forEachLine", "a lambda for each line", Idioms::forEachLine),
            lines("File.useLines", "count of the sequence of lines", Idioms::useLines),
            Method.ofLines("Path.useLines", "useLines of a Path: count of the sequence of lines",
                    request -> Answer.ofLines(Idioms.useLines(request.target().file()))),
            lines("File.readLines", "size of the list: all lines are held at once", Idioms::readLines),
            newlines("File.readText", "readText of a File, and count: the whole file in one String",
                    Method.LOOP, request -> Idioms.newlinesOfText(file(request))),
            newlines("BufferedInputStream.iterator", "inputStream and buffered of a File, one byte after the other",
                    Method.READ, request -> Idioms.newlinesOfBytes(file(request), request.intParam(BUFFER.name())),
                    BUFFER),
            Method.ofBytes("File.readBytes", "readBytes of a File: the whole file in one array, below 2 GiB",
                    List.of(Method.LOOP), Methods::readBytes),
            Method.ofBytes("File.forEachBlock", "forEachBlock of a File: a lambda for each block, in one array",
                    List.of(Method.LOOP), Methods::forEachBlock, BLOCK));

    private Methods() {}

    /** Counts what is in a file. */
    private interface OfFile {
        long count(File file);
    }

    /** Counts what is in the file of a request. */
    private interface OfRequest {
        long count(Request request) throws IOException;
    }

    private static Method lines(String name, String about, OfFile lines) {
        String call = name.substring(name.indexOf('.') + 1);
        return Method.ofLines(name, call + " of a File: " + about,
                request -> Answer.ofLines(lines.count(file(request))));
    }

    private static Method newlines(String name, String about, String scan, OfRequest newlines, Param... params) {
        return new Method(name, about, Map.of(Work.NEWLINES, List.of(scan)), List.of(), List.of(params),
                Method.FILE, false, Optional.empty(), request -> Answer.ofNewlines(newlines.count(request)));
    }

    private static Answer readBytes(Request request) throws IOException {
        byte[] bytes = Idioms.readBytes(file(request));
        Tally tally = new Tally(request.work());
        tally.take(bytes, bytes.length);
        return tally.answer();
    }

    private static Answer forEachBlock(Request request) throws IOException {
        Tally tally = new Tally(request.work());
        Idioms.forEachBlock(file(request), request.intParam(BLOCK.name()), tally::take);
        return tally.answer();
    }

    private static File file(Request request) throws IOException {
        return request.target().legacyFile();
    }
}
