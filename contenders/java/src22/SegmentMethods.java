import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The whole file mapped as one MemorySegment of any size; closing its arena unmaps it. */
final class SegmentMethods {
    private static final Param BUFFER = new Param("buffer_bytes", 65_536, 1, StreamMethods.BUFFER_MAX);

    static final List<Method> ALL = List.of(
            Method.ofBytes("MemorySegment",
                    "the whole file mapped as one MemorySegment; scan bulk copies through an array of buffer_bytes;"
                            + " discard loads the pages",
                    List.of(Method.LOOP, Method.BULK), SegmentMethods::mapped, BUFFER));

    private SegmentMethods() {}

    private static Answer mapped(Request request) throws IOException {
        try (FileChannel channel = FileChannel.open(request.target().file(), StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            MemorySegment file = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            Tally tally = new Tally(request.work());
            if (request.scan().equals(Method.BULK)) {
                takeInBulk(tally, file, new byte[request.intParam("buffer_bytes")]);
                return tally.answer();
            }
            tally.add(file.byteSize(), switch (request.work()) {
                case NEWLINES -> newlines(file);
                case SUM -> sum(file);
                case DISCARD -> load(file);
                case LINES -> throw new IllegalStateException("bytes are no lines");
            });
            return tally.answer();
        }
    }

    private static void takeInBulk(Tally tally, MemorySegment file, byte[] piece) {
        for (long offset = 0; offset < file.byteSize(); offset += piece.length) {
            int length = (int) Math.min(piece.length, file.byteSize() - offset);
            MemorySegment.copy(file, ValueLayout.JAVA_BYTE, offset, piece, 0, length);
            tally.take(piece, length);
        }
    }

    private static long newlines(MemorySegment file) {
        long count = 0;
        for (long i = 0; i < file.byteSize(); i++) {
            if (file.get(ValueLayout.JAVA_BYTE, i) == '\n') {
                count++;
            }
        }
        return count;
    }

    private static long sum(MemorySegment file) {
        long sum = 0;
        for (long i = 0; i < file.byteSize(); i++) {
            sum += file.get(ValueLayout.JAVA_BYTE, i);
        }
        return sum;
    }

    private static long load(MemorySegment file) {
        file.load();
        return 0;
    }
}
