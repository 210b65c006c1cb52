import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The Java contender of readlab: reads files with the classes of Java and measures each reading.
 *
 * <p>This class implements the three ways of being started (PROTOCOL.md) and does not read files; {@link Session}
 * takes the turns, {@link Methods} lists the methods.
 */
public final class Reader {
    private static final String USAGE = "usage: Reader hello | methods | read METHOD SCAN WORK TARGET [name=value ...]";
    private static final int EXIT_USAGE = 2;

    private Reader() {}

    public static void main(String[] args) {
        PrintStream out =
                new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        int code;
        try {
            code = run(args, System.in, out);
        } catch (LinkageError mismatch) {
            // Only classes from src22 can be too new for the virtual machine.
            out.println(Say.failed("built by another JDK than the one that runs it: " + mismatch.getMessage()));
            code = Session.EXIT_FAILED;
        }
        out.flush();
        System.exit(code);
    }

    /** Runs one whole session; returns the exit code. */
    static int run(String[] args, InputStream turns, PrintStream out) {
        String verb = args.length == 0 ? "" : args[0];
        if (verb.equals("hello") && args.length == 1) {
            return say(out, Say.hello());
        }
        if (verb.equals("methods") && args.length == 1) {
            out.println(Say.hello());
            Methods.ALL.forEach(method -> out.println(Say.method(method)));
            return say(out, "");
        }
        if (verb.equals("read") && args.length >= 5) {
            say(out, Say.hello());
            return read(args, turns, out);
        }
        System.err.println(USAGE);
        return EXIT_USAGE;
    }

    private static int read(String[] args, InputStream turns, PrintStream out) {
        Request request;
        Method method;
        try {
            method = Method.named(args[1]);
            request = Request.parse(method, args);
        } catch (Refusal refusal) {
            say(out, Say.failed(refusal.getMessage()));
            return Session.EXIT_FAILED;
        }
        Optional<String> unavailable = method.unavailable();
        if (unavailable.isPresent()) {
            return say(out, Say.unavailable(unavailable.get()));
        }
        return new Session(method, request, out).serve(turns);
    }

    private static int say(PrintStream out, String line) {
        if (!line.isEmpty()) {
            out.println(line);
        }
        out.flush();
        return 0;
    }
}
