import java.util.Locale;
import java.util.stream.Stream;

/** What is done with the bytes. */
enum Work {
    NEWLINES,
    LINES,
    SUM,
    DISCARD;

    /** As it is spelled on the command line and in messages. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Work parse(String word) throws Refusal {
        return Stream.of(values())
                .filter(work -> work.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new Refusal("there is no work '" + word + "'"));
    }
}
