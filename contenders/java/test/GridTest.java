import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Tests the list of methods: every method, scan and work on every corpus against the oracle. */
final class GridTest {
    private GridTest() {}

    static void test(Path folder, Server server) throws IOException {
        registry();
        grid(folder, server);
    }

    private static void grid(Path folder, Server server) throws IOException {
        // Methods of folders are tested by several_files.sh, those of places by places.sh.
        for (Method method : Methods.ALL.stream().filter(it -> !it.readsFolders() && !it.readsPlaces()).toList()) {
            if (method.unavailable().isPresent()) {
                System.err.println("SKIPPED: " + method.name() + ": " + method.unavailable().get());
                continue;
            }
            for (Corpus corpus : Corpus.all().values()) {
                if (corpus.text() || method.scans().containsKey(Work.SUM)) {
                    Path file = corpus.write(folder, method.name());
                    String target = method.reads().equals(Method.URL) ? server.url(file) : file.toString();
                    cell(method, corpus, target);
                    Check.that(!isHeld(file), method.name() + " holds nothing of " + corpus.name(), file);
                }
            }
        }
    }

    private static void cell(Method method, Corpus corpus, String target) {
        for (Map.Entry<Work, List<String>> scans : method.scans().entrySet()) {
            for (String scan : scans.getValue()) {
                answered(Talk.read(method, scan, scans.getKey(), target), method, scan, scans.getKey(), corpus);
                String[] small = small(method);
                if (small.length > 0 && (corpus.content().length < 40_000 || method.readsUrls())) {
                    Talk talk = Talk.read(method, scan, scans.getKey(), target, small);
                    answered(talk, method, scan, scans.getKey(), corpus);
                }
            }
        }
    }

    /** Parameters that reach every edge case. */
    private static String[] small(Method method) {
        return method.params().stream()
                .map(param -> param.name() + "=" + switch (param.name()) {
                    case "window_bytes" -> 4096;
                    case "readers" -> 3;
                    case "verify" -> 0;
                    case "kept", "http", "parallel" -> 1;
                    case "block_bytes" -> 512;
                    case "part_bytes" -> 65_536;
                    default -> 7;
                })
                .toArray(String[]::new);
    }

    private static void answered(Talk talk, Method method, String scan, Work work, Corpus corpus) {
        String what = method.name() + "/" + scan + " " + work.word() + " of " + corpus.name();
        boolean turns = talk.shape().equals(Talk.TWO_TURNS) && talk.exit() == 0;
        Check.that(turns, what, talk.lines());
        for (Map<String, Long> answer : talk.answers()) {
            boolean proves = work == Work.DISCARD
                    ? answer.containsKey("bytes")
                    : answer.containsKey(work.word()) || work == Work.NEWLINES && answer.containsKey("lines");
            boolean agrees = corpus.truth().entrySet().containsAll(answer.entrySet());
            Check.that(proves && agrees, what, answer + " but the truth is " + corpus.truth());
        }
    }

    /** Whether this process has a file open or mapped. */
    private static boolean isHeld(Path file) throws IOException {
        if (Files.readString(Path.of("/proc/self/maps")).contains(file.toString())) {
            return true;
        }
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.anyMatch(link -> {
                try {
                    return Files.readSymbolicLink(link).equals(file);
                } catch (IOException closedMeanwhile) {
                    return false;
                }
            });
        }
    }

    private static void registry() {
        List<String> names = Methods.ALL.stream().map(Method::name).toList();
        Check.that(names.stream().distinct().count() == names.size(), "names are unique", names);
        Check.that(names.stream().noneMatch(name -> name.matches(".*[/@, ].*")), "names fit into a trial's", names);
        for (Method method : Methods.ALL) {
            boolean ranges = method.params().stream()
                    .allMatch(p -> p.min() <= p.defaultValue() && p.defaultValue() <= p.max() && p.max() <= 1 << 30);
            Check.that(ranges, method.name() + " has defaults within their ranges", method.params());
        }
        Talk talk = Talk.of("", "methods");
        String shape = "hello" + " method".repeat(names.size());
        Check.that(talk.shape().equals(shape) && talk.exit() == 0, "methods", talk.lines());
        Check.that(Talk.of("", "hello").shape().equals("hello"), "hello", Talk.of("", "hello"));
    }
}
