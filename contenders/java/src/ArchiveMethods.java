import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * The methods that read the content of a zip or a gzip, as lines or as bytes.
 *
 * <p>The target of zip is the archive. All entries that are not folders are read, in the order of its directory; a
 * single entry is named after it: {@code data.zip!/part.csv}. ZipFile does not compare an entry's checksum; with
 * {@code verify=1}, the default, this method does, as GZIPInputStream always does.
 */
final class ArchiveMethods {
    private static final String ENTRY_MARK = ".zip!/";
    private static final Param CHARS = new Param("buffer_chars", 8192, 1, 1 << 29);
    private static final Param BUFFER = new Param("buffer_bytes", 65_536, 1, StreamMethods.BUFFER_MAX);
    private static final Param VERIFY = new Param("verify", 1, 0, 1);
    private static final List<String> LOOP = List.of(Method.LOOP);

    static final List<Method> ALL = List.of(
            Method.ofLines("zip", "readLine of a BufferedReader over an InputStreamReader over the entries of a ZipFile",
                    request -> fromZip(request, ArchiveMethods::countLines), CHARS, VERIFY)
                    .decoding("zip"),
            Method.ofBytes("zip-bytes", "read of the entries of a ZipFile into one array; bytes are those that come out",
                    LOOP, request -> fromZip(request, StreamMethods::drain), BUFFER, VERIFY)
                    .decoding("zip"),
            Method.ofLines("gzip", "readLine of a BufferedReader over an InputStreamReader over a GZIPInputStream",
                    request -> fromGzip(request, ArchiveMethods::countLines), CHARS)
                    .decoding("gzip"),
            Method.ofBytes("gzip-bytes", "read of a GZIPInputStream into one array; bytes are those that come out",
                    LOOP, request -> fromGzip(request, StreamMethods::drain), BUFFER)
                    .decoding("gzip"));

    private ArchiveMethods() {}

    /** The visit of the decoded stream. */
    private interface Consumer {
        Answer consume(InputStream in, Request request) throws IOException;
    }

    private static Answer countLines(InputStream in, Request request) throws IOException {
        InputStreamReader chars = new InputStreamReader(in, StandardCharsets.UTF_8);
        return Answer.ofLines(LineMethods.countLines(new BufferedReader(chars, request.intParam("buffer_chars"))));
    }

    private static Answer fromGzip(Request request, Consumer consumer) throws IOException {
        try (FileInputStream file = new FileInputStream(request.target().legacyFile());
                WholeGzip in = new WholeGzip(file)) {
            return consumer.consume(in, request);
        }
    }

    private static Answer fromZip(Request request, Consumer consumer) throws IOException {
        String path = request.target().legacyFile().getPath();
        int mark = path.lastIndexOf(ENTRY_MARK);
        int end = mark < 0 ? path.length() : mark + ENTRY_MARK.indexOf('!');
        String name = mark < 0 ? "" : path.substring(mark + ENTRY_MARK.length());
        try (ZipFile zip = new ZipFile(new File(path.substring(0, end)))) {
            List<ZipEntry> entries = name.isEmpty() ? allEntries(zip) : List.of(namedEntry(zip, name));
            try (InputStream in = new Entries(zip, entries, request.intParam("verify") != 0)) {
                return consumer.consume(in, request);
            }
        }
    }

    private static List<ZipEntry> allEntries(ZipFile zip) throws ZipException {
        List<ZipEntry> entries =
                zip.stream().filter(entry -> !entry.isDirectory()).collect(Collectors.toUnmodifiableList());
        if (entries.isEmpty()) {
            throw new ZipException("the zip has no entries");
        }
        return entries;
    }

    private static ZipEntry namedEntry(ZipFile zip, String name) throws ZipException {
        ZipEntry entry = zip.getEntry(name);
        if (entry == null) {
            throw new ZipException("the zip has no entry '" + name + "'");
        }
        return entry;
    }
}
