import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The methods of java.nio: a channel read into a buffer on the heap or outside it, and a mapping.
 *
 * <p>Direct and mapped buffers are freed inside the window, see {@link BufferCleaner}.
 */
final class ChannelMethods {
    private static final int WINDOW_MAX = 1 << 30;
    private static final Param BUFFER = new Param("buffer_bytes", 65_536, 1, StreamMethods.BUFFER_MAX);
    private static final Param WINDOW = new Param("window_bytes", WINDOW_MAX, 4096, WINDOW_MAX);
    private static final List<String> LOOP = List.of(Method.LOOP);
    private static final List<String> LOOP_OR_BULK = List.of(Method.LOOP, Method.BULK);

    static final List<Method> ALL = List.of(
            Method.ofBytes("FileChannel-heap", "read of a FileChannel into a heap ByteBuffer, visited as its array",
                    LOOP, ChannelMethods::heap, BUFFER)
                    .readingParts(),
            Method.ofBytes("FileChannel-direct",
                    "read of a FileChannel into a direct ByteBuffer; scan bulk copies it into an array as large",
                    LOOP_OR_BULK, ChannelMethods::direct, BUFFER)
                    .readingParts()
                    .unless(BufferCleaner.unavailable()),
            Method.ofBytes("MappedByteBuffer",
                    "the file mapped window by window, each unmapped before the next; scan bulk copies through an array"
                            + " of buffer_bytes; discard loads the pages",
                    LOOP_OR_BULK, ChannelMethods::mapped, BUFFER, WINDOW)
                    .readingParts()
                    .unless(BufferCleaner.unavailable()));

    private ChannelMethods() {}

    private static FileChannel open(Request request) throws IOException {
        return FileChannel.open(request.target().file(), StandardOpenOption.READ).position(request.part().start());
    }

    /** Makes room in a buffer for what is left of the part; false if nothing is. */
    private static boolean clear(ByteBuffer buffer, long left) {
        buffer.clear().limit((int) Math.min(left, buffer.capacity()));
        return left > 0;
    }

    private static Answer heap(Request request) throws IOException {
        try (FileChannel channel = open(request)) {
            Tally tally = new Tally(request.work());
            ByteBuffer buffer = ByteBuffer.allocate(request.intParam("buffer_bytes"));
            long left = request.part().length();
            while (clear(buffer, left) && channel.read(buffer) >= 0) {
                tally.take(buffer.array(), buffer.position());
                left -= buffer.position();
            }
            return tally.answer();
        }
    }

    private static Answer direct(Request request) throws IOException {
        try (FileChannel channel = open(request)) {
            Tally tally = new Tally(request.work());
            byte[] piece = piece(request);
            ByteBuffer buffer = ByteBuffer.allocateDirect(request.intParam("buffer_bytes"));
            try {
                long left = request.part().length();
                while (clear(buffer, left) && channel.read(buffer) >= 0) {
                    left -= buffer.position();
                    take(tally, buffer.flip(), piece);
                }
            } finally {
                BufferCleaner.free(buffer);
            }
            return tally.answer();
        }
    }

    private static Answer mapped(Request request) throws IOException {
        try (FileChannel channel = open(request)) {
            Tally tally = new Tally(request.work());
            byte[] piece = piece(request);
            long window = request.params().get("window_bytes");
            long end = request.part().end(channel.size());
            for (long offset = request.part().start(); offset < end; offset += window) {
                MappedByteBuffer mapping = channel.map(MapMode.READ_ONLY, offset, Math.min(window, end - offset));
                try {
                    if (request.work() == Work.DISCARD) {
                        mapping.load();
                    }
                    take(tally, mapping, piece);
                } finally {
                    BufferCleaner.free(mapping);
                }
            }
            return tally.answer();
        }
    }

    private static byte[] piece(Request request) {
        boolean bulk = request.scan().equals(Method.BULK);
        return bulk ? new byte[request.intParam("buffer_bytes")] : new byte[0];
    }

    private static void take(Tally tally, ByteBuffer buffer, byte[] piece) {
        if (piece.length > 0) {
            tally.takeInBulk(buffer, piece);
        } else {
            tally.take(buffer);
        }
    }
}
