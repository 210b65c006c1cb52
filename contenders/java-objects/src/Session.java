import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
 *
 * <p>A client that is kept is made before {@code ready}; otherwise the window has its making and its closing.
 */
final class Session {
    static final int EXIT_FAILED = 1;

    private static final Pattern TURN = Pattern.compile("go (\\d{1,10}) (\\d{1,10})\\s*");
    private static final long TURN_MAX = 0xFFFF_FFFFL;

    private final Method method;
    private final Request request;
    private final PrintStream out;

    /** One timed reading: its window, and the numbers beside it. */
    record Sample(long wallNanos, Map<String, Long> numbers) {}

    Session(Method method, Request request, PrintStream out) {
        this.method = method;
        this.request = request;
        this.out = out;
    }

    /** Serves turns until the end of the input; returns the exit code. */
    int serve(InputStream turns) {
        // Not closed: the stream belongs to the caller.
        BufferedReader lines = new BufferedReader(new InputStreamReader(turns, StandardCharsets.ISO_8859_1));
        try {
            Optional<Source> kept = request.kept() ? Optional.of(open()) : Optional.empty();
            say(Say.ready(request.params()));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                turn(line, kept);
            }
            kept.ifPresent(Source::close);
            return 0;
        } catch (Refusal refusal) {
            say(Say.failed(refusal.getMessage()));
        } catch (IOException cause) {
            say(Say.failed("standard input: " + Failure.cause(cause)));
        }
        return EXIT_FAILED;
    }

    private Source open() throws Refusal {
        try {
            return method.opening().open(request);
        } catch (RuntimeException failure) {
            throw new Refusal(request.object().shown() + ": " + Failure.cause(failure));
        }
    }

    private void turn(String line, Optional<Source> kept) throws Refusal {
        Matcher words = TURN.matcher(line);
        long lead = words.matches() ? Long.parseLong(words.group(1)) : -1;
        long count = words.matches() ? Long.parseLong(words.group(2)) : 0;
        if (lead < 0 || lead > TURN_MAX || count < 1 || count > TURN_MAX) {
            throw new Refusal("expected `go LEAD COUNT` with COUNT above 0, got '" + line + "'");
        }
        Beans beans = Beans.begin();
        List<Sample> samples = samples(lead, count, kept);
        List<Count> counts = beans.end();
        samples.forEach(sample -> out.println(Say.sample(sample)));
        counts.forEach(it -> out.println(Say.count(it)));
        say(Say.done(count));
    }

    // Every failure of a reading ends here, including OutOfMemoryError.
    private List<Sample> samples(long lead, long count, Optional<Source> kept) throws Refusal {
        try {
            for (long i = 0; i < lead; i++) {
                reading(kept);
            }
            List<Sample> samples = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                samples.add(reading(kept));
            }
            return samples;
        } catch (Exception | OutOfMemoryError failure) {
            throw new Refusal(request.object().shown() + ": " + Failure.cause(failure));
        }
    }

    private Sample reading(Optional<Source> kept) throws Exception {
        Window window = new Window();
        Tally tally = kept.isPresent() ? kept.get().read(window) : readOnce(window);
        long wallNanos = window.elapsedNanos();
        Map<String, Long> numbers = new TreeMap<>(window.numbers());
        numbers.putAll(tally.proof());
        return new Sample(wallNanos, numbers);
    }

    private Tally readOnce(Window window) throws Exception {
        try (Source source = method.opening().open(request)) {
            return source.read(window);
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
