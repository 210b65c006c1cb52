import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Tests of whole files: many blocks, options of the programs, frames that follow one another. */
final class ContentTest {
    private static final byte[] SKIPPABLE = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', '\n', 'b'};

    private final Path folder;
    private final Format format;

    private ContentTest(Path folder, Format format) {
        this.folder = folder;
        this.format = format;
    }

    static void test(Path folder, Format format) throws IOException {
        ContentTest test = new ContentTest(folder, format);
        test.large();
        test.options();
        if (format.hasFrames()) {
            test.frames();
        }
    }

    /** Contents of many blocks. */
    private void large() throws IOException {
        byte[] lines = lines(5_000_001);
        answers(new Corpus("megabytes of lines", lines, true), "lines", format.pack(lines));
        byte[] random = new byte[1_000_003];
        new Random(2).nextBytes(random);
        answers(new Corpus("megabytes of random bytes", random, false), "random", format.pack(random));
    }

    /** Numbered lines, the last one without its end. */
    static byte[] lines(int size) {
        StringBuilder lines = new StringBuilder();
        for (int line = 0; lines.length() < size; line++) {
            lines.append(String.format("line %d of %d%n", line, line * 7919L % 10_007));
        }
        return lines.substring(0, size).getBytes(StandardCharsets.US_ASCII);
    }

    private void answers(Corpus content, String what, byte[] packed) throws IOException {
        Archive.of(format, folder, what, packed).answers(content, what);
    }

    /** The ways of writing that make other heads, blocks and checksums. */
    private void options() throws IOException {
        Map<Format, List<String>> all = Map.of(
                Format.ZSTD, List.of("--no-check", "-1", "-19", "--long=27", "--fast=5"),
                Format.LZ4, List.of("-q -B4", "-q -B7", "-BX", "--no-frame-crc", "--content-size",
                        "-9"),
                Format.XZ, List.of("-1 --block-size=65536", "-1 --check=none",
                        "-1 --check=crc32", "-1 --check=sha256", "-1 -T2", "-9e"),
                Format.BZIP2, List.of("-1", "-9"),
                Format.SNAPPY, List.of(),
                Format.BROTLI, List.of("--quality=1", "--lgwin=10 --quality=5", "--lgwin=24"));
        Corpus content = new Corpus("options", lines(600_001), true);
        for (String option : all.get(format)) {
            answers(content, option, format.pack(content.content(), option.split(" ")));
        }
        if (format == Format.LZ4) {
            // The library has no blocks that depend on those before them.
            byte[] dependent = format.pack(content.content(), "-q", "-B4", "-BD");
            Archive.of(format, folder, "-BD", dependent).fails("-BD");
        }
        if (format == Format.ZSTD) {
            byte[] wide = format.pack(content.content(), "--ultra", "--long=31");
            Archive.of(format, folder, "--long=31", wide).fails("a window of 2 GiB");
        }
    }

    private void frames() throws IOException {
        byte[] first = lines(200_001);
        byte[] second = lines(100);
        byte[] one = format.pack(first);
        byte[] two = format.pack(second);
        byte[] none = format.pack(new byte[0]);
        Corpus both = new Corpus("frames", Format.joined(first, second), true);
        answers(both, "two frames", Format.joined(one, two));
        answers(both, "an empty frame between", Format.joined(one, none, two));
        answers(both, "empty frames around", Format.joined(none, one, two, none));
        byte[] many = {};
        byte[] content = {};
        for (int i = 0; i < 50; i++) {
            many = Format.joined(many, two);
            content = Format.joined(content, second);
        }
        answers(new Corpus("many", content, true), "fifty frames", many);
        if (format == Format.ZSTD || format == Format.LZ4) {
            byte[] skippable = Format.joined(SKIPPABLE, one, SKIPPABLE, two, SKIPPABLE);
            answers(both, "skippable frames", skippable);
        }
        if (format == Format.XZ) {
            answers(both, "padding", Format.joined(one, new byte[8], two, new byte[4]));
        }
    }
}
