import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** One session with the contender: its output and its exit code. */
record Talk(List<String> lines, int exit) {
    /** The messages between the samples and the end of each turn. */
    static final String COUNTS = "count count count";
    /** The shape of a good {@link #read}. */
    static final String TWO_TURNS =
            "hello ready sample sample " + COUNTS + " done sample " + COUNTS + " done";
    private static final Pattern NUMBER = Pattern.compile("\"(bytes|newlines|lines|sum|wall_ns)\":(\\d+)");

    /** Runs a session in this process. */
    static Talk of(String turns, String... args) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, false, StandardCharsets.UTF_8);
        int exit = Reader.run(args, new ByteArrayInputStream(turns.getBytes(StandardCharsets.UTF_8)), out);
        out.flush();
        return new Talk(said.toString(StandardCharsets.UTF_8).lines().toList(), exit);
    }

    /** Runs a session of one request. */
    static Talk read(Method method, String scan, Work work, String target, String... params) {
        Stream<String> words = Stream.of("read", method.name(), scan, work.word(), target);
        return of("go 1 2\ngo 0 1\n", Stream.concat(words, Stream.of(params)).toArray(String[]::new));
    }

    /** The numbers of each sample, without the time. */
    List<Map<String, Long>> answers() {
        List<Map<String, Long>> answers = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith("{\"say\":\"sample\"")) {
                Map<String, Long> answer = new TreeMap<>();
                for (Matcher number = NUMBER.matcher(line); number.find(); ) {
                    answer.put(number.group(1), Long.parseLong(number.group(2)));
                }
                answer.remove("wall_ns");
                answers.add(answer);
            }
        }
        return answers;
    }

    /** The lines of one count, turn by turn. */
    List<String> counts(String of) {
        return lines.stream().filter(line -> line.contains("\"of\":\"" + of + "\"")).toList();
    }

    /** The kind of each line, by its first field. */
    String shape() {
        return String.join(" ", lines.stream().map(line -> line.replaceAll("^\\{\"say\":\"(\\w+)\".*", "$1")).toList());
    }

    boolean unavailableWith(String reason) {
        String last = lines.isEmpty() ? "" : lines.get(lines.size() - 1);
        return last.startsWith("{\"say\":\"unavailable\"") && last.contains(reason);
    }

    boolean failedWith(String reason) {
        String last = lines.isEmpty() ? "" : lines.get(lines.size() - 1);
        return exit == Session.EXIT_FAILED && last.startsWith("{\"say\":\"failed\"") && last.contains(reason);
    }
}
