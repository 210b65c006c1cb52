import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tests of the virtual machine's counts during a turn: readings that allocate known numbers of bytes, and threads. */
final class CountsTest {
    private static final Pattern VALUE = Pattern.compile("\"value\":(\\d+)");
    private static final long BUFFER = 1 << 20;

    private CountsTest() {}

    static void test(Path folder) throws IOException {
        String file = Files.writeString(folder.resolve("counted"), "a\nb\n").toString();
        Talk heap = read("FileChannel-heap loop newlines", file, "buffer_bytes=" + BUFFER);
        List<String> bytes = heap.counts("allocated_bytes");
        boolean ofBothTurns = bytes.size() == 2
                && isAbout(value(bytes.get(0)), 3 * BUFFER)
                && isAbout(value(bytes.get(1)), BUFFER);
        Check.that(ofBothTurns, "bytes allocated by three readings and by one", bytes);
        List<String> direct = read("FileChannel-direct loop newlines", file, "buffer_bytes=" + BUFFER)
                .counts("allocated_bytes");
        Check.that(value(direct.get(1)) < BUFFER / 10, "memory outside of the heap is not in it", direct);
        List<String> pauses = heap.counts("gc_ns");
        Check.that(pauses.stream().allMatch(line -> value(line) >= 0), "time of the collector", pauses);
        List<String> threads = read("BufferedReader - lines", file, "readers=2").counts("allocated_bytes");
        boolean summed = threads.get(1).contains("Total") && value(threads.get(1)) > 2 * Character.BYTES * 8192;
        boolean honest = summed || threads.get(1).contains("started threads") && value(threads.get(1)) < 0;
        Check.that(honest, "what ended threads allocated", threads);
    }

    private static Talk read(String words, String file, String... params) {
        String[] three = words.split(" ");
        List<String> all = new java.util.ArrayList<>(List.of("read", three[0], three[1], three[2], file));
        all.addAll(List.of(params));
        return Talk.of("go 1 2\ngo 0 1\n", all.toArray(String[]::new));
    }

    /** What a reading allocates besides its buffer is small. */
    private static boolean isAbout(long found, long expected) {
        return found >= expected && found < expected + expected / 4;
    }

    /** The reported value, or a negative number if there is none. */
    private static long value(String line) {
        Matcher value = VALUE.matcher(line);
        return value.find() ? Long.parseLong(value.group(1)) : -1;
    }
}
