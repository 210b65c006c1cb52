import java.util.Map;
import java.util.TreeMap;

/** The numbers of a reading, by their names in messages: proof of work, and what a client says about its requests. */
record Answer(Map<String, Long> found) {
    /** The proof of a method that visits bytes. */
    static Answer ofBytes(Work work, long bytes, long counted) {
        Map<String, Long> found = new TreeMap<>(Map.of("bytes", bytes));
        if (work != Work.DISCARD) {
            found.put(work.word(), counted);
        }
        return new Answer(found);
    }

    /** The same with another number. */
    Answer with(String name, long value) {
        Map<String, Long> more = new TreeMap<>(found);
        more.put(name, value);
        return new Answer(more);
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
