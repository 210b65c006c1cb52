import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The contender as a process of its own, as the roster starts it. */
record Program(Path build) {
    /** Starts it; it waits for turns. */
    Process start(List<String> flags, Map<String, String> environment, String... words)
            throws IOException {
        List<String> all = Stream.of(command(), flags, List.of("Reader"), List.of(words))
                .flatMap(List::stream)
                .toList();
        ProcessBuilder builder = new ProcessBuilder(all);
        builder.environment().putAll(environment);
        return builder.redirectError(Redirect.INHERIT).start();
    }

    /** Its command without the class that is started. */
    List<String> command() {
        return List.of("java", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1",
                "-Djava.library.path=" + build.resolve("native"),
                "-cp", build.resolve("classes") + ":" + build.resolve("lib") + "/*");
    }

    /** A session of one turn. */
    Talk read(Map<String, String> environment, String... words) throws Exception {
        Process process = start(List.of(), environment, words);
        process.getOutputStream().write("go 0 1\n".getBytes(StandardCharsets.US_ASCII));
        return ended(process);
    }

    static Talk ended(Process process) throws Exception {
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Talk(said.lines().toList(), process.waitFor());
    }
}
