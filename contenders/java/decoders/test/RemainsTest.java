import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Tests that no library writes a file, not while it decodes: then nothing is left when the virtual
 * machine is killed.
 */
final class RemainsTest {
    private final Path temporary;
    private final Program program;

    private RemainsTest(Path temporary, Program program) {
        this.temporary = temporary;
        this.program = program;
    }

    static void test(Path folder, Program program, List<Format> formats) throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        RemainsTest test = new RemainsTest(temporary, program);
        Talk listed = Program.ended(program.start(test.flags(), Map.of(), "methods"));
        boolean isEmpty = listed.exit() == 0 && test.remains().isEmpty();
        Check.that(isEmpty, "a list of methods leaves nothing", test.remains());
        for (Format format : formats) {
            byte[] packed = format.pack(ContentTest.lines(10_000));
            test.killed(Archive.of(format, folder, "remains", packed));
        }
    }

    private void killed(Archive archive) throws Exception {
        String method = archive.format().method().name();
        String file = archive.file().toString();
        Process process = program.start(flags(), Map.of(), "read", method, "-", "discard", file);
        process.getOutputStream().write("go 0 1\n".getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().flush();
        BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        while (line != null && !line.contains("\"done\"")) {
            line = said.readLine();
        }
        Check.that(line != null, method + " answers before it is killed", method);
        Check.that(remains().isEmpty(), method + " writes nothing", remains());
        process.destroyForcibly().waitFor();
        Check.that(remains().isEmpty(), method + " leaves nothing when it is killed", remains());
    }

    private List<String> flags() {
        return List.of("-Djava.io.tmpdir=" + temporary);
    }

    private List<Path> remains() throws IOException {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.toList();
        }
    }
}
