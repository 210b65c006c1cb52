import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The contender java-objects of readlab: reads objects of S3 stores with the AWS SDK for Java and measures each
 * reading.
 *
 * <p>This class implements the three ways of being started (PROTOCOL.md) and does not read objects; {@link Session}
 * takes the turns, {@link Methods} lists the methods.
 */
public final class Reader {
    private static final String USAGE = "usage: Reader hello | methods | read METHOD SCAN WORK TARGET [name=value ...]";
    private static final int EXIT_USAGE = 2;

    private Reader() {}

    public static void main(String[] args) {
        // No service of the machine is asked for a region or for credentials.
        System.setProperty("aws.disableEc2Metadata", "true");
        PrintStream out =
                new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        int code = run(args, System.in, out);
        out.flush();
        System.exit(code);
    }

    private static int run(String[] args, InputStream turns, PrintStream out) {
        String verb = args.length == 0 ? "" : args[0];
        if (verb.equals("hello") && args.length == 1) {
            return say(out, Say.hello());
        }
        if (verb.equals("methods") && args.length == 1) {
            say(out, Say.hello());
            Methods.ALL.forEach(method -> say(out, Say.method(method)));
            return 0;
        }
        if (verb.equals("read") && args.length >= 5) {
            say(out, Say.hello());
            return read(args, turns, out);
        }
        System.err.println(USAGE);
        return EXIT_USAGE;
    }

    private static int read(String[] args, InputStream turns, PrintStream out) {
        try {
            Method method = Methods.named(args[1]);
            return new Session(method, Request.parse(method, args), out).serve(turns);
        } catch (Refusal refusal) {
            say(out, Say.failed(refusal.getMessage()));
            return Session.EXIT_FAILED;
        }
    }

    private static int say(PrintStream out, String line) {
        out.println(line);
        out.flush();
        return 0;
    }
}
