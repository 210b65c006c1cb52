import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/** The methods of java.io, and Files.readAllBytes: they read into arrays on the heap. */
final class StreamMethods {
    static final int BUFFER_MAX = 1 << 30;

    private static final Param BUFFER = new Param("buffer_bytes", 8192, 1, BUFFER_MAX);
    private static final Param PAGE = new Param("page_bytes", 4096, 1, BUFFER_MAX);
    private static final List<String> LOOP = List.of(Method.LOOP);
    private static final List<String> READ = List.of(Method.READ);

    static final List<Method> ALL = List.of(
            Method.ofBytes("FileInputStream", "read of a FileInputStream into one array", LOOP,
                    StreamMethods::fileInputStream, BUFFER),
            Method.ofBytes("FileInputStream.transferTo",
                    "transferTo of a FileInputStream into an OutputStream that visits the bytes", LOOP,
                    StreamMethods::transferTo),
            Method.ofBytes("BufferedInputStream", "read of a BufferedInputStream, one call for each byte", READ,
                    StreamMethods::bufferedInputStream, BUFFER)
                    .withScans(Map.of(Work.NEWLINES, READ, Work.SUM, READ, Work.DISCARD, READ)),
            Method.ofBytes("RandomAccessFile", "read of a RandomAccessFile, one page after the other", LOOP,
                    StreamMethods::randomAccessFile, PAGE),
            Method.ofBytes("Files.readAllBytes", "Files.readAllBytes: the whole file in one array, below 2 GiB", LOOP,
                    StreamMethods::readAllBytes));

    private StreamMethods() {}

    private static Answer fileInputStream(Request request) throws IOException {
        try (InputStream in = new FileInputStream(request.target().legacyFile())) {
            return drain(in, request);
        }
    }

    /** Reads a stream to its end through one array of {@code buffer_bytes}. */
    static Answer drain(InputStream in, Request request) throws IOException {
        Tally tally = new Tally(request.work());
        byte[] buffer = new byte[request.intParam("buffer_bytes")];
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
            tally.take(buffer, length);
        }
        return tally.answer();
    }

    private static Answer transferTo(Request request) throws IOException {
        try (InputStream in = new FileInputStream(request.target().legacyFile())) {
            Tally tally = new Tally(request.work());
            in.transferTo(new TallyStream(tally));
            return tally.answer();
        }
    }

    private static Answer bufferedInputStream(Request request) throws IOException {
        int size = request.intParam("buffer_bytes");
        try (InputStream in = new BufferedInputStream(new FileInputStream(request.target().legacyFile()), size)) {
            Tally tally = new Tally(request.work());
            switch (request.work()) {
                case NEWLINES -> readNewlines(in, tally);
                case SUM -> readSum(in, tally);
                case DISCARD -> readAll(in, tally);
                case LINES -> throw new IllegalStateException("bytes are no lines");
            }
            return tally.answer();
        }
    }

    private static void readNewlines(InputStream in, Tally tally) throws IOException {
        long length = 0;
        long count = 0;
        for (int b = in.read(); b >= 0; b = in.read()) {
            length++;
            if (b == '\n') {
                count++;
            }
        }
        tally.add(length, count);
    }

    private static void readSum(InputStream in, Tally tally) throws IOException {
        long length = 0;
        long sum = 0;
        for (int b = in.read(); b >= 0; b = in.read()) {
            length++;
            sum += b;
        }
        tally.add(length, sum);
    }

    private static void readAll(InputStream in, Tally tally) throws IOException {
        long length = 0;
        while (in.read() >= 0) {
            length++;
        }
        tally.add(length, 0);
    }

    private static Answer randomAccessFile(Request request) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(request.target().legacyFile(), "r")) {
            Tally tally = new Tally(request.work());
            byte[] page = new byte[request.intParam("page_bytes")];
            for (int length = file.read(page); length >= 0; length = file.read(page)) {
                tally.take(page, length);
            }
            return tally.answer();
        }
    }

    private static Answer readAllBytes(Request request) throws IOException {
        byte[] bytes = Files.readAllBytes(request.target().file());
        Tally tally = new Tally(request.work());
        tally.take(bytes, bytes.length);
        return tally.answer();
    }
}
