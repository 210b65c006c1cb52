import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Tests of the code that advice shows: one piece for each method, which counts as it does. */
final class SnippetsTest {
    private static final String ENDING = ".java";
    private static final Pattern CLASS = Pattern.compile("^final class (\\w+)", Pattern.MULTILINE);

    private final Path folder;
    private final Path snippets;

    private SnippetsTest(Path folder, Path snippets) {
        this.folder = folder;
        this.snippets = snippets;
    }

    static void test(Path folder, Path snippets, List<Format> formats) throws Exception {
        SnippetsTest test = new SnippetsTest(folder, snippets);
        List<String> methods = Methods.ALL.stream().map(Method::name).sorted().toList();
        List<String> shown = test.shown();
        Check.that(shown.equals(methods), "a snippet for each of " + methods, shown);
        for (Format format : formats) {
            for (Corpus corpus : Corpus.all().values()) {
                test.counts(format, corpus, format.pack(corpus.content()));
            }
            if (format.hasFrames()) {
                byte[] lines = ContentTest.lines(100_000);
                byte[] packed = format.pack(lines);
                Corpus twice = new Corpus("twice", Format.joined(lines, lines), true);
                test.counts(format, twice, Format.joined(packed, packed));
            }
        }
    }

    private List<String> shown() throws IOException {
        try (Stream<Path> files = Files.list(snippets)) {
            return files.map(it -> it.getFileName().toString().replace(ENDING, ""))
                    .sorted()
                    .toList();
        }
    }

    private void counts(Format format, Corpus corpus, byte[] packed) throws Exception {
        long newlines = run(format, Archive.of(format, folder, "snippet", packed).file());
        boolean agrees = newlines == corpus.truth().get("newlines");
        Check.that(agrees, format + ": snippet on " + corpus.name(), newlines);
    }

    private long run(Format format, Path file) throws Exception {
        String code = Files.readString(snippets.resolve(format.method().name() + ENDING));
        Matcher named = CLASS.matcher(code);
        Check.that(named.find(), format + ": its snippet is a class", code);
        try {
            return (long) Class.forName(named.group(1))
                    .getDeclaredMethod("newlines", Path.class)
                    .invoke(null, file);
        } catch (InvocationTargetException failure) {
            throw new IOException(format + ": its snippet", failure.getCause());
        }
    }
}
