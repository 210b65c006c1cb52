import java.util.Locale;
import java.util.stream.Stream;

/** The works that can be done with the bytes. */
enum Work {
    NEWLINES,
    SUM,
    DISCARD;

    /** Its spelling on the command line and in messages. */
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
