import java.nio.file.Path;
import java.util.List;

/** Tests what the contender java-decoders decodes: {@code DecodersTest BUILD SNIPPETS}. */
public final class DecodersTest {
    private DecodersTest() {}

    public static void main(String[] args) throws Exception {
        try (TestFolder made = TestFolder.make()) {
            Path folder = made.path();
            list();
            List<Format> formats = Format.written();
            for (Format format : formats) {
                ContentTest.test(folder, format);
                BrokenTest.test(folder, format);
            }
            SnippetsTest.test(folder, Path.of(args[1]), formats);
            Program program = new Program(Path.of(args[0]).toAbsolutePath());
            RemainsTest.test(folder, program, formats);
            if (formats.contains(Format.ZSTD)) {
                DictionaryTest.test(folder, program);
            }
        }
        System.exit(Check.finish());
    }

    /** The contender has a name and methods of its own, with the protocol of the other one. */
    private static void list() {
        String hello = Talk.of("", "hello").lines().get(0);
        Check.that(hello.contains("\"contender\":\"java-decoders\""), "hello", hello);
        for (String library : List.of("zstd-jni 1", "lz4-java 1", "xz 1", "commons-compress 1",
                "snappy-java 1", "dec 0")) {
            Check.that(hello.contains(", " + library), "hello has the library " + library, hello);
        }
        Check.that(!hello.contains("java.library.path"), "hello has no path", hello);
        List<String> methods = Talk.of("", "methods").lines();
        boolean each = methods.size() == 1 + Format.values().length;
        Check.that(each, "a method for each format", methods);
        for (Format format : Format.values()) {
            String method = "\"method\":\"" + format.method().name() + "\"";
            String line = methods.stream().filter(it -> it.contains(method)).findFirst().orElse("");
            String archive = "\"decodes\":[\"" + format.word() + "\"]";
            Check.that(line.contains(archive), format + " is decoded", line);
            Check.that(!line.contains("\"unavailable\""), format + " is available", line);
            boolean dictionary = line.contains("\"dictionary\":true");
            Check.that(dictionary == (format == Format.ZSTD), format + ": dictionary", line);
        }
    }
}
