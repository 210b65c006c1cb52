import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipOutputStream;

/** Tests of files that cannot be read correctly: each must end in `failed`, with the path and the cause. */
final class BadInput {
    private static final int LOCAL_FLAGS = 6;
    private static final int CENTRAL_FLAGS = 8;
    private static final int CENTRAL_CRC = 16;

    private final Path folder;
    private final Corpus corpus = Corpus.all().get("lines of all lengths");

    private BadInput(Path folder) {
        this.folder = folder;
    }

    static void test(Path folder) throws IOException {
        BadInput input = new BadInput(folder);
        input.zips();
        input.entries();
        input.gzips();
        input.text();
    }

    private void zips() throws IOException {
        byte[] good = Files.readAllBytes(corpus.write(folder, "zip"));
        fails("zip", "garbage.zip", "not a zip at all".getBytes(StandardCharsets.US_ASCII), "END header not found");
        fails("zip", "nothing.zip", new byte[0], "zip file is empty");
        fails("zip", "half.zip", Arrays.copyOf(good, good.length / 2), "END header not found");

        Path none = folder.resolve("none.zip");
        new ZipOutputStream(Files.newOutputStream(none)).close();
        fails("zip", none.toString(), "the zip has no entries");

        byte[] encrypted = good.clone();
        patchAll(encrypted, "PK\3\4", LOCAL_FLAGS);
        patchAll(encrypted, "PK\1\2", CENTRAL_FLAGS);
        fails("zip", "encrypted.zip", encrypted, "encrypted");

        byte[] crc = good.clone();
        patchAll(crc, "PK\1\2", CENTRAL_CRC);
        fails("zip", "crc.zip", crc, "checksum");
        fails("zip-bytes", "crc.zip", crc, "checksum");
    }

    /** Flips the lowest bit of a field in every header with this signature. */
    private static void patchAll(byte[] zip, String signature, int field) {
        byte[] mark = signature.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i + field < zip.length; i++) {
            if (Arrays.equals(zip, i, i + mark.length, mark, 0, mark.length)) {
                zip[i + field] ^= 1;
            }
        }
    }

    private void entries() throws IOException {
        Path zip = corpus.write(folder, "zip");
        Talk whole = Talk.of("go 0 1\n", "read", "zip", "-", "lines", zip.toString());
        Check.that(whole.answers().equals(List.of(Map.of("lines", 500L))), "all entries", whole);
        fails("zip", zip + "!/third", "the zip has no entry 'third'");
        Talk second = Talk.of("go 0 1\n", "read", "zip", "-", "lines", zip + "!/second");
        Check.that(second.answers().equals(List.of(Map.of("lines", 1L))), "a named entry", second);
    }

    private void gzips() throws IOException {
        byte[] good = Files.readAllBytes(corpus.write(folder, "gzip"));
        fails("gzip", "garbage.gz", "not a gzip at all".getBytes(StandardCharsets.US_ASCII), "Not in GZIP format");
        fails("gzip", "half.gz", Arrays.copyOf(good, good.length / 2), "ends too early");
        fails("gzip", "no-trailer.gz", Arrays.copyOf(good, good.length - 4), "ends too early");
        byte[] crc = good.clone();
        crc[good.length - 8] ^= 1;
        fails("gzip-bytes", "crc.gz", crc, "Corrupt GZIP trailer");
        for (int behind : new int[] {1, 8, 9, 100, 600}) {
            byte[] longer = Arrays.copyOf(good, good.length + behind);
            longer[longer.length - 1] = 'x';
            fails("gzip", "garbage-behind.gz", longer, "from byte " + good.length + " on, is no gzip");
        }
        byte[] two = Arrays.copyOf(good, 2 * good.length);
        System.arraycopy(good, 0, two, good.length, good.length);
        Path members = Files.write(folder.resolve("members.gz"), two);
        Talk both = Talk.of("go 0 1\n", "read", "gzip", "-", "lines", members.toString());
        Check.that(both.answers().equals(List.of(Map.of("lines", 1000L))), "two members", both);
    }

    private void text() throws IOException {
        byte[] latin = "caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1);
        fails("Files.lines", "latin", latin, "not valid UTF-8");
        fails("Files.readAllLines", "latin", latin, "not valid UTF-8");
        fails("Files.readString", "latin", latin, "not valid UTF-8");
    }

    private void fails(String method, String file, byte[] content, String reason) throws IOException {
        fails(method, Files.write(folder.resolve(file), content).toString(), reason);
    }

    private static void fails(String name, String target, String reason) {
        Method method = Methods.ALL.stream().filter(m -> m.name().equals(name)).findFirst().orElseThrow();
        Work work = method.scans().containsKey(Work.SUM) ? Work.SUM : Work.NEWLINES;
        Talk talk = Talk.read(method, method.scans().get(work).get(0), work, target);
        boolean said = talk.failedWith(reason) && talk.failedWith(target + ": ");
        Check.that(said && talk.shape().equals("hello ready failed"), name + " of " + target, talk);
    }
}
