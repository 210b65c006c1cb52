import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Small contents, each with a difficulty, and the correct answers by the simplest code. */
record Corpus(String name, byte[] content, boolean text) {
    static Map<String, Corpus> all() {
        Map<String, Corpus> all = new LinkedHashMap<>();
        add(all, text("empty", ""));
        add(all, text("one byte", "a"));
        add(all, text("one newline", "\n"));
        add(all, text("no final newline", "a\nbc\nd"));
        add(all, text("final newline", "a\nbc\nd\n"));
        add(all, text("only newlines", "\n".repeat(20_000)));
        add(all, text("one long line", "x".repeat(300_000)));
        add(all, text("crlf", "a\r\nbc\r\n\r\nd\r\n"));
        add(all, text("utf-8", "äöü€😀\n".repeat(5_000) + "日本"));
        add(all, text("newline at the edge of a buffer", "y".repeat(8191) + "\n" + "z".repeat(8192)));
        add(all, text("a buffer exactly", "w".repeat(65_535) + "\n"));
        add(all, text("lines of all lengths", lines()));
        byte[] random = new byte[150_001];
        new Random(1).nextBytes(random);
        add(all, new Corpus("random bytes", random, false));
        return all;
    }

    private static void add(Map<String, Corpus> all, Corpus corpus) {
        all.put(corpus.name, corpus);
    }

    private static Corpus text(String name, String content) {
        return new Corpus(name, content.getBytes(StandardCharsets.UTF_8), true);
    }

    private static String lines() {
        StringBuilder lines = new StringBuilder();
        for (int length = 0; length < 500; length++) {
            lines.append("q".repeat(length)).append('\n');
        }
        return lines.toString();
    }

    /** The correct answer of the content. */
    Map<String, Long> truth() {
        Map<String, Long> truth = new TreeMap<>();
        long newlines = 0;
        long sum = 0;
        for (byte b : content) {
            newlines += b == 0x0A ? 1 : 0;
            sum = sum + b & 0xFF;
        }
        boolean open = content.length > 0 && content[content.length - 1] != 0x0A;
        truth.put("bytes", (long) content.length);
        truth.put("newlines", newlines);
        truth.put("lines", newlines + (open ? 1 : 0));
        truth.put("sum", sum);
        return truth;
    }

    /** Writes it as a method of this name expects it; returns the path. */
    Path write(Path folder, String method) throws IOException {
        String kind = method.startsWith("zip") ? ".zip" : method.startsWith("gzip") ? ".gz" : ".txt";
        Path path = folder.resolve(name + kind);
        try (OutputStream file = Files.newOutputStream(path)) {
            switch (kind) {
                case ".zip" -> zip(file);
                case ".gz" -> {
                    try (OutputStream gzip = new GZIPOutputStream(file)) {
                        gzip.write(content);
                    }
                }
                default -> file.write(content);
            }
        }
        return path;
    }

    private void zip(OutputStream file) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(file)) {
            zip.putNextEntry(new ZipEntry("folder/"));
            zip.putNextEntry(new ZipEntry("folder/first"));
            int tail = Math.min(2, content.length);
            zip.write(content, 0, content.length - tail);
            zip.putNextEntry(new ZipEntry("second"));
            zip.write(content, content.length - tail, tail);
        }
    }
}
