import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Tests the methods of the contender kotlin and the code that advice shows: {@code KotlinTest SNIPPETS}. */
public final class KotlinTest {
    private static final String ENDING = ".kt";

    private KotlinTest() {}

    public static void main(String[] args) throws Exception {
        try (TestFolder made = TestFolder.make()) {
            Path folder = made.path();
            hello();
            refused(folder);
            snippets(folder, Path.of(args[0]));
        }
        System.exit(Check.finish());
    }

    /** The contender has a name of its own, and says which library it reads with. */
    private static void hello() {
        String hello = Talk.of("", "hello").lines().get(0);
        boolean own = hello.contains("\"contender\":\"kotlin\"") && hello.contains(", kotlin-stdlib 2.");
        Check.that(own, "hello", hello);
    }

    /** What is not there is a failure; text that is no UTF-8 is one for a Path alone. */
    private static void refused(Path folder) throws IOException {
        String absent = folder.resolve("absent").toString();
        String broken = Files.write(folder.resolve("broken"), new byte[] {'a', (byte) 0xFF, '\n'}).toString();
        for (var method : Methods.ALL) {
            boolean ofLines = method.scans().containsKey(Work.LINES);
            Work work = ofLines ? Work.LINES : Work.NEWLINES;
            String scan = method.scans().get(work).get(0);
            Talk none = Talk.read(method, scan, work, absent);
            Check.that(none.failedWith("/absent: "), method.name() + " of no file", none);
            Talk text = Talk.read(method, scan, work, broken);
            boolean refuses = method.name().equals("Path.useLines");
            Check.that(refuses == (text.exit() != 0), method.name() + " of what is no UTF-8", text);
        }
    }

    private static void snippets(Path folder, Path snippets) throws Exception {
        List<String> methods = Methods.ALL.stream().map(it -> it.name()).sorted().toList();
        List<String> shown;
        try (Stream<Path> files = Files.list(snippets)) {
            shown = files.map(it -> it.getFileName().toString().replace(ENDING, "")).sorted().toList();
        }
        Check.that(shown.equals(methods), "a snippet for each of " + methods, shown);
        for (Corpus corpus : Corpus.all().values()) {
            Path file = corpus.write(folder, "snippet");
            for (String name : shown) {
                if (corpus.text() || !name.contains("Line")) {
                    long counted = run(name, file);
                    boolean right = corpus.truth().get(name.contains("Line") ? "lines" : "newlines") == counted;
                    Check.that(right, name + ": snippet on " + corpus.name(), counted);
                }
            }
        }
    }

    /** Calls the function of a snippet, in the class that Kotlin names after the file. */
    private static long run(String name, Path file) throws Exception {
        Class<?> shown = Class.forName(name.replace('.', '_') + "Kt");
        Method function = Arrays.stream(shown.getDeclaredMethods())
                .filter(it -> Arrays.equals(it.getParameterTypes(), new Class<?>[] {Path.class}))
                .findFirst()
                .orElseThrow();
        try {
            return (long) function.invoke(null, file);
        } catch (InvocationTargetException failure) {
            throw new IOException(name + ": its snippet", failure.getCause());
        }
    }
}
