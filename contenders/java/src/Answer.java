import java.util.Map;
import java.util.TreeMap;

/** Proof of work: what a reading found, by the names that messages use. */
record Answer(Map<String, Long> found) {
    /** What a method that sees bytes can prove. */
    static Answer ofBytes(Work work, long bytes, long counted) {
        Map<String, Long> found = new TreeMap<>(Map.of("bytes", bytes));
        if (work != Work.DISCARD) {
            found.put(work.word(), counted);
        }
        return new Answer(found);
    }

    /** What a method that sees lines can prove: an unterminated last one is counted too. */
    static Answer ofLines(long lines) {
        return new Answer(Map.of("lines", lines));
    }

    /** What a method that sees decoded characters can prove. */
    static Answer ofNewlines(long newlines) {
        return new Answer(Map.of("newlines", newlines));
    }
}
