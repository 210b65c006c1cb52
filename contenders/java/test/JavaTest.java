import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Tests the contender beyond the protocol, which {@code readlab verify} tests: bad input of its formats, counts of the
 * virtual machine, the end of HTTP clients, and sessions that need other settings of it. {@code JavaTest BUILD}.
 */
public final class JavaTest {
    private JavaTest() {}

    public static void main(String[] args) throws Exception {
        try (TestFolder made = TestFolder.make()) {
            Path folder = made.path();
            silentUntilDone();
            BadInput.test(folder);
            CountsTest.test(folder);
            HttpSessionTest.test();
            ProcessTest.test(folder, Path.of(args[0]));
        }
        System.exit(Check.finish());
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
}
