import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Tests the contender against PROTOCOL.md: every method, scan and work on every corpus against the oracle, then
 * misuse, bad input, and tests that need a separate process.
 */
public final class ConformanceTest {
    private ConformanceTest() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("readlab-java-test");
        try (Server server = new Server()) {
            grid(folder, server);
            registry();
            misuse(folder);
            silentUntilDone();
            BadInput.test(folder, server);
            CountsTest.test(folder);
            HttpTest.test(folder, server, Path.of(args[0]));
            ProcessTest.test(folder, Path.of(args[0]));
        } finally {
            delete(folder);
        }
        System.exit(Check.finish());
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

    private static void misuse(Path folder) throws IOException {
        String file = Files.writeString(folder.resolve("misuse"), "a\nb\n").toString();
        for (String[] words : new String[][] {{}, {"helo"}, {"hello", "x"}, {"read"}, {"read", "zip", "-", "lines"}}) {
            Check.that(Talk.of("", words).equals(new Talk(List.of(), 2)), "wrong words", List.of(words));
        }
        refused("there is no method 'mmap'", "mmap", "-", "sum", file);
        refused("there is no work 'words'", "zip", "-", "words", file);
        refused("does not do the work 'sum'", "zip", "-", "sum", file);
        refused("has no scan 'avx2' for sum (it has: loop, bulk)", "MappedByteBuffer", "avx2", "sum", file);
        refused("has no parameter 'depth'", "zip", "-", "lines", file, "depth=1");
        for (String value : List.of("buffer_bytes", "buffer_bytes=", "buffer_bytes=0", "buffer_bytes=-1",
                "buffer_bytes=8k", "buffer_bytes=1073741825", "buffer_bytes=99999999999999999999")) {
            refused("buffer_bytes must be an integer", "FileInputStream", "loop", "sum", file, value);
        }
        refused("given twice", "FileInputStream", "loop", "sum", file, "buffer_bytes=1", "buffer_bytes=2");
        for (String turn : List.of("", "go", "go 1", "go 0 0", "go -1 1", "go 1 1 1", "stop 1 1", "go  1 1",
                "go 0 4294967296", "go 0 99999999999999999999")) {
            Talk talk = Talk.of("go 0 1\n" + turn + "\n", "read", "Files.lines", "-", "lines", file);
            boolean stops = talk.shape().equals("hello ready sample " + Talk.COUNTS + " done failed");
            Check.that(stops && talk.failedWith("expected `go"), "a turn spelled '" + turn + "'", talk);
        }
        Talk none = Talk.of("", "read", "FileInputStream", "loop", "sum", file, "buffer_bytes=9");
        String ready = "{\"say\":\"ready\",\"params\":{\"buffer_bytes\":9}}";
        Check.that(none.exit() == 0 && none.lines().get(1).equals(ready), "no turns", none);
    }

    /** A turn has the requested number of readings, and prints only after its last reading. */
    private static void silentUntilDone() throws Refusal {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        List<Integer> saidBefore = new ArrayList<>();
        Method counting = Method.ofLines("counting", "counts its readings", request -> {
            saidBefore.add(said.size());
            return Answer.ofLines(0);
        });
        Request request = Request.parse(counting, new String[] {"read", "counting", "-", "lines", "nothing"});
        ByteArrayInputStream turn = new ByteArrayInputStream("go 3 2\n".getBytes(StandardCharsets.US_ASCII));
        int exit = new Session(counting, request, new PrintStream(said, true, StandardCharsets.UTF_8)).serve(turn);
        int ready = Say.ready(Map.of()).length() + 1;
        boolean silent = saidBefore.equals(Collections.nCopies(5, ready));
        Check.that(exit == 0 && silent && said.size() > ready, "a turn of 3 and 2 readings", saidBefore);
    }

    private static void refused(String reason, String... words) {
        Talk talk = Talk.of("go 0 1\n", Stream.concat(Stream.of("read"), Stream.of(words)).toArray(String[]::new));
        Check.that(talk.failedWith(reason) && talk.shape().equals("hello failed"), reason, talk);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
