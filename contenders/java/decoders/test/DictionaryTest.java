import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Tests of a zstd with a dictionary, which the environment of a process names: the right one,
 * another, or none.
 */
final class DictionaryTest {
    private static final String VARIABLE = "READLAB_DICTIONARY";
    private static final byte[] CONTENT = ContentTest.lines(20_000);
    private static final long NEWLINES = new Corpus("", CONTENT, true).truth().get("newlines");
    private static final List<Map<String, Long>> ANSWER =
            List.of(Map.of("bytes", (long) CONTENT.length, "newlines", NEWLINES));

    private final Path folder;
    private final Program program;

    private DictionaryTest(Path folder, Program program) {
        this.folder = folder;
        this.program = program;
    }

    static void test(Path folder, Program program) throws Exception {
        DictionaryTest test = new DictionaryTest(folder, program);
        byte[] samples = ContentTest.lines(400_000);
        Path trained = test.trained("trained", samples);
        Path other = test.trained("other", new String(samples, StandardCharsets.US_ASCII)
                .replace("line", "row;")
                .getBytes(StandardCharsets.US_ASCII));
        byte[] packed = Format.ZSTD.pack(CONTENT, "-D", trained.toString());
        Path file = Files.write(folder.resolve("with-dictionary.zst"), packed);
        Path twice = Files.write(folder.resolve("twice.zst"), Format.joined(packed, packed));
        test.answers("the right one", file, trained);
        test.fails("another one", file, other, "ictionary");
        test.fails("none", file, null, "ictionary");
        Talk both = test.read(twice, trained);
        Map<String, Long> doubled = Map.of("bytes", 2L * CONTENT.length, "newlines", 2 * NEWLINES);
        Check.that(both.answers().equals(List.of(doubled)), "two frames with one dictionary", both);
        byte[] shorter = Arrays.copyOf(packed, packed.length - 1);
        Path cut = Files.write(folder.resolve("cut.zst"), shorter);
        test.fails("a file that is cut short", cut, trained, "");
        Path plain = Files.write(folder.resolve("without.zst"), Format.ZSTD.pack(CONTENT));
        test.answers("one that the file does not need", plain, trained);
        test.anyBytes();
        test.absent(file);
        test.names(file, trained);
    }

    /** A dictionary may be any bytes. */
    private void anyBytes() throws Exception {
        Path any = Files.write(folder.resolve("any"), ContentTest.lines(3_000));
        Path another = Files.write(folder.resolve("another"), Format.bytes(3_000, 'q'));
        byte[] packed = Format.ZSTD.pack(CONTENT, "-D", any.toString());
        Path file = Files.write(folder.resolve("any.zst"), packed);
        answers("any bytes", file, any);
        fails("other bytes", file, another, "");
        fails("no bytes", file, null, "");
    }

    /** It is read before the contender is ready. */
    private void absent(Path file) throws Exception {
        Path absent = folder.resolve("absent");
        Talk talk = read(file, absent);
        boolean said = talk.failedWith(absent + ": no such file");
        Check.that(said && talk.shape().equals("hello failed"), "a dictionary is not there", talk);
        Talk nameless = program.read(Map.of(VARIABLE, ""), words(file));
        boolean why = nameless.failedWith(VARIABLE + " names no file");
        Check.that(why, "a dictionary without a name", nameless);
        Talk other = program.read(Map.of(VARIABLE, absent.toString()),
                "read", "XZInputStream", "-", "discard", file.toString());
        Check.that(other.failedWith(file + ": "), "a method without dictionary", other);
    }

    /** Names are bytes. */
    private void names(Path file, Path trained) throws Exception {
        for (String name : List.of("d\\303\\244", "d\\377\\300", "a b=c")) {
            String script = "name=$(printf '" + name + "'); cp \"$1\" \"$name\"; shift; "
                    + "printf 'go 0 1\\n' | READLAB_DICTIONARY=\"$PWD/$name\" exec \"$@\"";
            List<String> all = Stream.of(
                            List.of("sh", "-c", script, "sh", trained.toString()),
                            program.command(), List.of("Reader"), List.of(words(file)))
                    .flatMap(List::stream)
                    .toList();
            ProcessBuilder builder = new ProcessBuilder(all).directory(folder.toFile());
            builder.environment().put("LC_ALL", "C.UTF-8");
            Talk talk = Program.ended(builder.redirectError(Redirect.INHERIT).start());
            Check.that(talk.answers().equals(ANSWER), "a dictionary named '" + name + "'", talk);
        }
    }

    private Path trained(String name, byte[] samples) throws Exception {
        Path dictionary = folder.resolve(name);
        Path file = Files.write(folder.resolve(name + ".samples"), samples);
        Process zstd = new ProcessBuilder("zstd", "-q", "--train", "-B512", "--maxdict=4096",
                        file.toString(), "-o", dictionary.toString())
                .redirectError(Redirect.INHERIT)
                .start();
        if (zstd.waitFor() != 0) {
            throw new IOException("zstd --train failed");
        }
        return dictionary;
    }

    private static String[] words(Path file) {
        String method = Format.ZSTD.method().name();
        return new String[] {"read", method, Method.LOOP, "newlines", file.toString()};
    }

    private Talk read(Path file, Path dictionary) throws Exception {
        Map<String, String> environment =
                dictionary == null ? Map.of() : Map.of(VARIABLE, dictionary.toString());
        return program.read(environment, words(file));
    }

    private void answers(String what, Path file, Path dictionary) throws Exception {
        Talk talk = read(file, dictionary);
        Check.that(talk.answers().equals(ANSWER) && talk.exit() == 0, "dictionary: " + what, talk);
    }

    private void fails(String what, Path file, Path dictionary, String reason) throws Exception {
        Talk talk = read(file, dictionary);
        boolean said = talk.failedWith(file + ": ") && talk.failedWith(reason);
        Check.that(said && talk.shape().equals("hello ready failed"), "dictionary: " + what, talk);
    }
}
