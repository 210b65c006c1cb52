import java.util.Map;
import java.util.TreeMap;

/** Proof of work: the numbers of a reading, by their names in messages. */
record Answer(Map<String, Long> found) {
    /** The proof of a method that visits bytes. */
    static Answer ofBytes(Work work, long bytes, long counted) {
        Map<String, Long> found = new TreeMap<>(Map.of("bytes", bytes));
        if (work != Work.DISCARD) {
            found.put(work.word(), counted);
        }
        return new Answer(found);
    }

    /** The proof of a method that visits lines; an unterminated last one counts. */
    static Answer ofLines(long lines) {
        return new Answer(Map.of("lines", lines));
    }

    /** The proof of a method that visits decoded characters. */
    static Answer ofNewlines(long newlines) {
        return new Answer(Map.of("newlines", newlines));
    }
}
