import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipOutputStream;

/** Tests of files and servers that cannot be read correctly: each must end in `failed`, with the path and the cause. */
final class BadInput {
    private static final int LOCAL_FLAGS = 6;
    private static final int CENTRAL_FLAGS = 8;
    private static final int CENTRAL_CRC = 16;

    private final Path folder;
    private final Corpus corpus = Corpus.all().get("lines of all lengths");

    private BadInput(Path folder) {
        this.folder = folder;
    }

    static void test(Path folder, Server server) throws IOException {
        BadInput input = new BadInput(folder);
        input.paths();
        input.zips();
        input.entries();
        input.gzips();
        input.text();
        input.servers(server);
    }

    private void paths() {
        for (Method method : Methods.ALL) {
            if (method.unavailable().isEmpty() && method.reads().equals(Method.FILE)) {
                String expected = method.name().startsWith("zip") ? "" : "o such file or directory";
                fails(method.name(), folder.resolve("absent").toString(), expected);
                fails(method.name(), folder.toString(), "");
                fails(method.name(), "http://localhost:1/", "a URL is read by HttpClient only");
            }
        }
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

    private void servers(Server server) throws IOException {
        for (String method : List.of("HttpClient", "HttpClient-stream", "HttpClient-ranged")) {
            fails(method, folder.resolve("absent").toString(), "HttpClient reads URLs only");
            fails(method, server.url(folder.resolve("absent")), "HTTP status 404");
            fails(method, server.urlOfMoved(), "HTTP status 302");
            fails(method, server.urlOfNobody(), "could not connect");
            String range = method.endsWith("ranged") ? "206 Partial; Content-Range: bytes 0-4/5; " : "200 OK; ";
            fails(method, server.urlOf(range + "Content-Length: 100000", "half\n"), "bytes received: 5");
            String chunk = server.urlOf(range + "Transfer-Encoding: chunked", "100\r\nhalf\n");
            fails(method, chunk, "chunked transfer encoding");
            String gzip = server.urlOf(range + "Content-Length: 5; Content-Encoding: gzip", "half\n");
            fails(method, gzip, "content encoding: gzip");
            hangUps(server, method, range + "Content-Length: 5");
        }
        ranges(server);
    }

    /** A request without an answer is repeated, and that is counted; but not without end. */
    private static void hangUps(Server server, String name, String head) {
        String url = server.urlAfterHangUps(2, head, "half\n");
        Talk talk = Talk.of("go 0 1\n", "read", name, Method.LOOP, "sum", url);
        boolean counted = talk.lines().stream().anyMatch(line -> line.contains("\"requests\":3,\"retries\":2"));
        Check.that(counted, name + " after two connections without an answer", talk);
        fails(name, server.urlAfterHangUps(5, head, "half\n"), "5 connections ended before an answer");
    }

    /** Answers to the request for the first 65536 bytes that are not what was asked for. */
    private static void ranges(Server server) {
        for (String[] wrong : new String[][] {
            {"200 OK; Content-Length: 5", "the answer is the whole"},
            {"206 Partial; Content-Length: 5", "the answer has no range"},
            {"206 Partial; Content-Length: 5; Content-Range: bytes 1-5/6", "the answer has bytes 1-5/6"},
            {"206 Partial; Content-Length: 5; Content-Range: bytes 0-4/9", "the answer has bytes 0-4/9"},
            {"206 Partial; Content-Length: 5; Content-Range: bytes 0-8/9", "a range of 9 bytes has 5"},
            {"412 Precondition Failed; Content-Length: 5", "HTTP status 412"},
            {"416 Range Not Satisfiable; Content-Length: 5", "HTTP status 416"},
        }) {
            fails("HttpClient-ranged", server.urlOf(wrong[0], "half\n"), wrong[1]);
        }
    }

    private void fails(String method, String file, byte[] content, String reason) throws IOException {
        fails(method, Files.write(folder.resolve(file), content).toString(), reason);
    }

    private static void fails(String name, String target, String reason) {
        Method method = Methods.ALL.stream().filter(m -> m.name().equals(name)).findFirst().orElseThrow();
        Work work = method.scans().containsKey(Work.SUM) ? Work.SUM : Work.NEWLINES;
        Talk talk = Talk.read(method, method.scans().get(work).get(0), work, target);
        boolean said = talk.failedWith(reason) && talk.failedWith(target.replaceFirst("[?].*", "") + ": ");
        Check.that(said && talk.shape().equals("hello ready failed"), name + " of " + target, talk);
    }
}
