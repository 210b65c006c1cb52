import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Tests the contender against PROTOCOL.md: what its methods answer, then misuse, bad input, and tests that need a
 * separate process.
 */
public final class ConformanceTest {
    private ConformanceTest() {}

    public static void main(String[] args) throws Exception {
        try (TestFolder made = TestFolder.make(); Server server = new Server()) {
            Path folder = made.path();
            GridTest.test(folder, server);
            misuse(folder);
            silentUntilDone();
            BadInput.test(folder, server);
            CountsTest.test(folder);
            HttpTest.test(folder, server, Path.of(args[0]));
            ProcessTest.test(folder, Path.of(args[0]));
        }
        System.exit(Check.finish());
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
}
