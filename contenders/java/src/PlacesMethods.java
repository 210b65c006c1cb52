import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The method that reads blocks at places of a file: as many reads are in flight as there are
 * threads, which take places in turn, each with a buffer of its own. They share the channel: its
 * reads at a position neither use nor move that of the channel.
 */
final class PlacesMethods {
    private static final Param THREADS = new Param("threads", 1, 1, 1024);

    static final List<Method> ALL = List.of(
            Method.ofBytes("places-FileChannel",
                    "read of a FileChannel at each place into a heap ByteBuffer, by threads that take places in turn",
                    List.of(Method.LOOP), PlacesMethods::read, THREADS)
                    .ofPlaces());

    private PlacesMethods() {}

    private static Answer read(Request request) throws Exception {
        Places places = request.target().places().orElseThrow();
        int threads = Math.min(request.intParam(THREADS.name()), places.offsets().length);
        AtomicInteger next = new AtomicInteger();
        PiecesTally all = new PiecesTally(PiecesTally.BLOCKS, request.work());
        try (FileChannel channel = FileChannel.open(places.file(), StandardOpenOption.READ)) {
            Callable<PiecesTally> reader = () -> readInTurn(channel, places, next, request.work());
            ReaderThreads.each(threads, reader).forEach(all::merge);
        }
        return all.answer();
    }

    /** Reads the block at the next place until none is left; after a failure, none is. */
    private static PiecesTally readInTurn(FileChannel channel, Places places, AtomicInteger next, Work work)
            throws IOException {
        PiecesTally found = new PiecesTally(PiecesTally.BLOCKS, work);
        long[] offsets = places.offsets();
        try {
            ByteBuffer block = ByteBuffer.allocate(places.longest());
            for (int number = next.getAndIncrement(); number < offsets.length; number = next.getAndIncrement()) {
                int length = places.length(number);
                fill(block.clear().limit(length), channel, offsets[number]);
                Tally tally = new Tally(work);
                tally.take(block.array(), length);
                found.add(number, tally);
            }
        } finally {
            next.set(offsets.length);
        }
        return found;
    }

    private static void fill(ByteBuffer block, FileChannel channel, long offset) throws IOException {
        try {
            while (block.hasRemaining()) {
                if (channel.read(block, offset + block.position()) < 0) {
                    throw new EOFException("the block");
                }
            }
        } catch (IOException cause) {
            throw new IOException(Failure.cause(cause) + " at byte " + offset, cause);
        }
    }
}
