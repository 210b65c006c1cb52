import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.xerial.snappy.SnappyFramedOutputStream;

/**
 * A format and the method that decodes it. The program of the same name writes it; snappy is
 * written by the library.
 */
enum Format {
    ZSTD("ZstdInputStream"),
    LZ4("LZ4FrameInputStream"),
    XZ("XZInputStream", "-1"),
    BZIP2("BZip2CompressorInputStream"),
    SNAPPY("SnappyFramedInputStream"),
    BROTLI("BrotliInputStream", "--quality=5");

    private final String method;
    private final String[] fast;

    /** The method, and the options for a program whose own are slow. */
    Format(String method, String... fast) {
        this.method = method;
        this.fast = fast;
    }

    /** Those that can be written here; the others are reported. */
    static List<Format> written() {
        return Stream.of(values()).filter(Format::isWritten).toList();
    }

    private boolean isWritten() {
        try {
            pack(new byte[0]);
            return true;
        } catch (IOException missing) {
            String why = "no program here writes " + word() + ": " + missing.getMessage();
            System.err.println("SKIPPED: " + method + ": " + why);
            return false;
        }
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    Method method() {
        return Methods.ALL.stream()
                .filter(it -> it.name().equals(method))
                .findFirst()
                .orElseThrow();
    }

    /** Whether several frames or streams may follow one another. */
    boolean hasFrames() {
        return this != BROTLI;
    }

    /** Compresses a content, with options of the program or fast ones. */
    byte[] pack(byte[] content, String... options) throws IOException {
        if (this != SNAPPY) {
            return run(content, options.length == 0 ? fast : options);
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream snappy = new SnappyFramedOutputStream(packed)) {
            snappy.write(content);
        }
        return packed.toByteArray();
    }

    private byte[] run(byte[] content, String... options) throws IOException {
        Path plain = Files.createTempFile("readlab-java-test", ".plain");
        try {
            Files.write(plain, content);
            List<String> words =
                    Stream.concat(Stream.of(word(), "-c"), Stream.of(options)).toList();
            Process program = new ProcessBuilder(words)
                    .redirectInput(plain.toFile())
                    .redirectError(Redirect.INHERIT)
                    .start();
            byte[] packed = program.getInputStream().readAllBytes();
            if (program.waitFor() != 0) {
                throw new IOException(words + " failed");
            }
            return packed;
        } catch (InterruptedException stopped) {
            throw new IOException(stopped);
        } finally {
            Files.delete(plain);
        }
    }

    /** What several archives are together. */
    static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Stream.of(parts).forEach(all::writeBytes);
        return all.toByteArray();
    }

    /** As many bytes of one value. */
    static byte[] bytes(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
