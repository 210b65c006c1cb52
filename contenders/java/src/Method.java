import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A method of reading.
 *
 * @param name as in a trial's name
 * @param about one sentence: which calls read the bytes
 * @param scans for each work it can do, the ways of visiting the bytes, best first
 * @param decodes the archives that it decodes; none for a method that reads plain bytes
 * @param params its parameters
 * @param reads what it can read: {@code file}, {@code folder}, {@code places} or {@code url}
 * @param parts whether it reads a part of a file, too
 * @param unavailable why it does not work in this virtual machine, if so
 * @param reading reads the target once, from open to close
 */
record Method(
        String name,
        String about,
        Map<Work, List<String>> scans,
        List<String> decodes,
        List<Param> params,
        String reads,
        boolean parts,
        Optional<String> unavailable,
        Reading reading) {

    /** Reads the target of a request once; no byte of the file is kept afterwards. */
    interface Reading {
        Answer read(Request request) throws Exception;
    }

    /** The scan of a method without a choice. */
    static final String NO_SCAN = "-";
    /** A plain indexed loop over the bytes in place. */
    static final String LOOP = "loop";
    /** Copied into an array first, then a plain loop. */
    static final String BULK = "bulk";
    /** The archive that may be compressed with a dictionary. */
    static final String ZSTD = "zstd";
    /** The value of {@code reads} for a method that reads from a server. */
    static final String URL = "url";
    /** The value of {@code reads} for a method that opens a file. */
    static final String FILE = "file";
    /** The value of {@code reads} for a method that reads every file below a folder. */
    static final String FOLDER = "folder";
    /** The value of {@code reads} for a method that reads blocks at places of a file. */
    static final String PLACES = "places";
    /** One call for each byte. */
    static final String READ = "read";

    /** The method of this name. */
    static Method named(String name) throws Refusal {
        return Methods.ALL.stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("there is no method '" + name + "'"));
    }

    /** A method that returns lines; for newlines it answers with lines, which prove them too. */
    static Method ofLines(String name, String about, Reading reading, Param... params) {
        Map<Work, List<String>> scans = Map.of(Work.LINES, List.of(NO_SCAN), Work.NEWLINES, List.of(NO_SCAN));
        return new Method(name, about, scans, List.of(), List.of(params), FILE, false, Optional.empty(), reading);
    }

    /** A method that returns many bytes at a time. */
    static Method ofBytes(String name, String about, List<String> scans, Reading reading, Param... params) {
        Map<Work, List<String>> all =
                Map.of(Work.NEWLINES, scans, Work.SUM, scans, Work.DISCARD, List.of(NO_SCAN));
        return new Method(name, about, all, List.of(), List.of(params), FILE, false, Optional.empty(), reading);
    }

    /** The same, for the content of an archive. */
    Method decoding(String archive) {
        return new Method(name, about, scans, List.of(archive), params, reads, parts, unavailable, reading);
    }

    /** Whether it decodes with a dictionary, too. */
    boolean takesDictionary() {
        return decodes.contains(ZSTD);
    }

    /** The same with other scans. */
    Method withScans(Map<Work, List<String>> others) {
        return new Method(name, about, others, decodes, params, reads, parts, unavailable, reading);
    }

    /** The same, unavailable if there is a reason. */
    Method unless(Optional<String> reason) {
        return new Method(name, about, scans, decodes, params, reads, parts, reason, reading);
    }

    /** The same, for parts of a file, too. */
    Method readingParts() {
        return new Method(name, about, scans, decodes, params, reads, true, unavailable, reading);
    }

    boolean readsFolders() {
        return reads.equals(FOLDER);
    }

    /** The same, for folders. */
    Method ofFolders() {
        return new Method(name, about, scans, decodes, params, FOLDER, parts, unavailable, reading);
    }

    boolean readsPlaces() {
        return reads.equals(PLACES);
    }

    /** The same, for places. */
    Method ofPlaces() {
        return new Method(name, about, scans, decodes, params, PLACES, parts, unavailable, reading);
    }

    boolean readsUrls() {
        return reads.equals(URL);
    }

    /** The same, for URLs. */
    Method ofUrls() {
        return new Method(name, about, scans, decodes, params, URL, parts, unavailable, reading);
    }
}
