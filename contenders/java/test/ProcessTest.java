import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Tests that need a separate process: names as raw bytes, a small heap, files beyond 2 GiB. */
final class ProcessTest {
    private static final long BEYOND_INT = (1L << 31) + 5;

    private final Path folder;
    private final Path build;

    private ProcessTest(Path folder, Path build) {
        this.folder = folder;
        this.build = build;
    }

    static void test(Path folder, Path build) throws Exception {
        ProcessTest test = new ProcessTest(folder, build);
        test.names();
        test.smallHeap();
        test.beyondInt();
    }

    /** Every method reads the file of exactly this name, or reports why it cannot; never another file. */
    private void names() throws Exception {
        for (String locale : List.of("C", "C.UTF-8")) {
            name("spaces and\\nnewlines \"quoted\" \\\\ %41", locale, true);
            name("\\303\\244\\342\\202\\254", locale, locale.equals("C.UTF-8"));
            name("not\\377utf-8\\300", locale, false);
        }
    }

    private void name(String octal, String locale, boolean forAll) throws Exception {
        // The file that a lossy decoding would open instead.
        Files.writeString(folder.resolve("not??utf-8??"), "\n".repeat(9));
        for (String method : List.of("FileInputStream", "Files.readAllBytes", "FileChannel-heap", "MappedByteBuffer")) {
            String script = "file=$(printf '" + octal.replace("%", "%%") + "'); printf 'a\\nb\\n' >\"$file\"; "
                    + "printf 'go 0 1\\n' | exec \"$1\" -cp \"$2\" Reader read " + method + " loop newlines \"$file\"";
            Talk relative = shell(locale, script);
            Talk absolute = shell(locale, script.replace("newlines \"$file\"", "newlines \"$PWD/$file\""));
            for (Talk talk : List.of(relative, absolute)) {
                boolean right = talk.answers().equals(List.of(Map.of("bytes", 4L, "newlines", 2L)));
                boolean said = talk.unavailableWith("java.io.File cannot spell this name");
                boolean legacy = method.equals("FileInputStream");
                Check.that(legacy && !forAll ? said : right, method + " of '" + octal + "' in " + locale, talk);
            }
        }
    }

    private void smallHeap() throws Exception {
        String file = sparse("sixty-four MiB", 64 << 20);
        for (String words : List.of("Files.readAllBytes loop sum", "Files.readAllLines - lines",
                "BufferedReader - lines", "FileInputStream loop sum")) {
            boolean big = words.startsWith("FileInputStream");
            Talk talk = java(List.of("-Xmx32m"), words, file, big ? new String[] {"buffer_bytes=900000000"} : new String[0]);
            Check.that(talk.failedWith("out of memory"), words + " in a heap of 32 MiB", talk);
        }
    }

    private void beyondInt() throws Exception {
        String file = sparse("beyond two GiB", BEYOND_INT);
        Talk whole = java(List.of(), "Files.readAllBytes - discard", file);
        Check.that(whole.failedWith("out of memory: Required array size too large"), "readAllBytes of 2 GiB", whole);
        Talk mapped = java(List.of(), "MappedByteBuffer loop newlines", file);
        Map<String, Long> truth = Map.of("bytes", BEYOND_INT, "newlines", 1L);
        Check.that(mapped.answers().equals(List.of(truth)), "2 GiB mapped in windows", mapped);
        if (Methods.ALL.stream().anyMatch(m -> m.name().equals("MemorySegment") && m.unavailable().isEmpty())) {
            Talk segment = java(List.of(), "MemorySegment loop newlines", file);
            Check.that(segment.answers().equals(List.of(truth)), "2 GiB in one MemorySegment", segment);
        }
    }

    /** A file of zeros without blocks that ends with a newline. */
    private String sparse(String name, long size) throws IOException {
        Path path = folder.resolve(name);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.seek(size - 1);
            file.write('\n');
        }
        return path.toString();
    }

    private Talk java(List<String> flags, String words, String file, String... params) throws Exception {
        Stream<String> command = Stream.of(
                        Stream.of(program()), flags.stream(), Stream.of("-cp", build.toString(), "Reader", "read"),
                        Stream.of(words.split(" ")), Stream.of(file), Stream.of(params))
                .flatMap(part -> part);
        Process process = new ProcessBuilder(command.toList()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        process.getOutputStream().write("go 0 1\n".getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().close();
        return ended(process);
    }

    private Talk shell(String locale, String script) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", script, "sh", program(), build.toAbsolutePath().toString());
        builder.directory(folder.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("LC_ALL", locale);
        return ended(builder.start());
    }

    static Talk ended(Process process) throws Exception {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Talk(said.lines().toList(), process.waitFor());
    }

    static String program() {
        return Path.of(URI.create("file://" + System.getProperty("java.home"))).resolve("bin/java").toString();
    }
}
