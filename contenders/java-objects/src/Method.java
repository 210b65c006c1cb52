import java.util.List;
import java.util.Map;

/**
 * A method of reading objects.
 *
 * @param name as in a trial's name
 * @param about one sentence: which calls read the bytes
 * @param params its parameters
 * @param opening makes its client
 */
record Method(String name, String about, List<Param> params, Opening opening) {
    /** Makes a client for a request: before the first reading, or within each window. */
    interface Opening {
        Source open(Request request);
    }

    /** A plain indexed loop over the bytes in place. */
    static final String LOOP = "loop";
    /** For a work without a choice. */
    static final String NO_SCAN = "-";
    /** The parameter of every method: whether the client and its connections stay from reading to reading. */
    static final Param KEPT = new Param("kept", 1, 0, 1);

    /** For each work, the ways of visiting the bytes, best first. */
    static final Map<Work, List<String>> SCANS =
            Map.of(Work.NEWLINES, List.of(LOOP), Work.SUM, List.of(LOOP), Work.DISCARD, List.of(NO_SCAN));
}
