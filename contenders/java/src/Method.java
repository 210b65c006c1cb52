import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One way of reading.
 *
 * @param name as in a trial's name
 * @param about one sentence: which calls bring the bytes
 * @param scans for each work it can do, the ways of visiting the bytes, best first
 * @param decodes the archives whose content it reads; none for one that reads any file as it is
 * @param params what may be set
 * @param reads what it can be pointed at: {@code file} or {@code url}
 * @param unavailable why it cannot work in this virtual machine, if so
 * @param reading reads the target once, from open to close
 */
record Method(
        String name,
        String about,
        Map<Work, List<String>> scans,
        List<String> decodes,
        List<Param> params,
        String reads,
        Optional<String> unavailable,
        Reading reading) {

    /** Reads the target of a request once; nothing of the file is held afterwards. */
    interface Reading {
        Answer read(Request request) throws Exception;
    }

    /** The scan of a method that leaves no choice. */
    static final String NO_SCAN = "-";
    /** A plain indexed loop over the bytes where they lie. */
    static final String LOOP = "loop";
    /** Copied into an array first, then a plain loop. */
    static final String BULK = "bulk";
    /** What {@code reads} says of a method that asks a server. */
    static final String URL = "url";
    /** What {@code reads} says of a method that opens a file. */
    static final String FILE = "file";
    /** One call for each byte. */
    static final String READ = "read";

    /** A method that hands out lines; for newlines it answers with lines, which prove them too. */
    static Method ofLines(String name, String about, Reading reading, Param... params) {
        Map<Work, List<String>> scans = Map.of(Work.LINES, List.of(NO_SCAN), Work.NEWLINES, List.of(NO_SCAN));
        return new Method(name, about, scans, List.of(), List.of(params), FILE, Optional.empty(), reading);
    }

    /** A method that hands out bytes, many at a time. */
    static Method ofBytes(String name, String about, List<String> scans, Reading reading, Param... params) {
        Map<Work, List<String>> all =
                Map.of(Work.NEWLINES, scans, Work.SUM, scans, Work.DISCARD, List.of(NO_SCAN));
        return new Method(name, about, all, List.of(), List.of(params), FILE, Optional.empty(), reading);
    }

    /** The same, of what comes out of such an archive. */
    Method decoding(String archive) {
        return new Method(name, about, scans, List.of(archive), params, reads, unavailable, reading);
    }

    /** The same with other scans. */
    Method withScans(Map<Work, List<String>> others) {
        return new Method(name, about, others, decodes, params, reads, unavailable, reading);
    }

    /** The same, unavailable if there is a reason. */
    Method unless(Optional<String> reason) {
        return new Method(name, about, scans, decodes, params, reads, reason, reading);
    }

    /** The same, pointed at URLs. */
    Method ofUrls() {
        return new Method(name, about, scans, decodes, params, URL, unavailable, reading);
    }
}
