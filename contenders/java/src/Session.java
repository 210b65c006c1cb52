import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
 *
 * <p>The clock is {@link System#nanoTime}. The window is the whole of {@link Method.Reading#read},
 * which opens and closes (and unmaps) the target and allocates its buffers.
 */
final class Session {
    static final int EXIT_FAILED = 1;

    private static final Pattern TURN = Pattern.compile("go (\\d{1,10}) (\\d{1,10})\\s*");
    private static final long TURN_MAX = 0xFFFF_FFFFL;

    private final Method method;
    private final Request request;
    private final PrintStream out;

    /** One timed reading. */
    record Sample(long wallNanos, Answer answer) {}

    Session(Method method, Request request, PrintStream out) {
        this.method = method;
        this.request = request;
        this.out = out;
    }

    /** Serves turns until the end of the input; returns the exit code. */
    int serve(InputStream turns) {
        say(Say.ready(request.params()));
        // Not closed: the stream belongs to the caller.
        BufferedReader lines = new BufferedReader(new InputStreamReader(turns, StandardCharsets.ISO_8859_1));
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                turn(line);
            }
            return 0;
        } catch (Refusal refusal) {
            say(refusal.line());
        } catch (IOException cause) {
            say(Say.failed("standard input: " + Failure.cause(cause)));
        }
        return EXIT_FAILED;
    }

    private void turn(String line) throws Refusal {
        Matcher words = TURN.matcher(line);
        long lead = words.matches() ? Long.parseLong(words.group(1)) : -1;
        long count = words.matches() ? Long.parseLong(words.group(2)) : 0;
        if (lead < 0 || lead > TURN_MAX || count < 1 || count > TURN_MAX) {
            throw new Refusal("expected `go LEAD COUNT` with COUNT above 0, got '" + line + "'");
        }
        Beans beans = Beans.begin();
        List<Sample> samples = samples(lead, count);
        List<Count> counts = beans.end();
        request.server().ifPresent(HttpSession::endTurn);
        samples.forEach(sample -> out.println(Say.sample(sample)));
        counts.forEach(it -> out.println(Say.count(it)));
        say(Say.done(count));
    }

    // Every failure of a reading ends here, including OutOfMemoryError, and InternalError, which the virtual machine
    // throws for a file that was truncated under a mapping.
    private List<Sample> samples(long lead, long count) throws Refusal {
        try {
            for (long i = 0; i < lead; i++) {
                method.reading().read(request);
            }
            List<Sample> samples = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                long start = System.nanoTime();
                Answer answer = method.reading().read(request);
                long wallNanos = System.nanoTime() - start;
                samples.add(new Sample(wallNanos, answer));
            }
            return samples;
        } catch (NotSpelled failure) {
            throw Refusal.unavailable(request.target().shown() + ": " + failure.getMessage());
        } catch (Exception | OutOfMemoryError | InternalError failure) {
            Optional<String> file = method.readsFolders() ? Failure.file(failure) : Optional.empty();
            throw new Refusal(file.orElse(request.target().shown()) + ": " + Failure.cause(failure));
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
