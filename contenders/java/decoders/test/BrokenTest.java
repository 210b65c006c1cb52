import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Tests of files that are cut short, go on behind their end, or have a wrong bit: each fails. */
final class BrokenTest {
    /** The size of the pieces in which a BrotliInputStream reads. */
    private static final int BROTLI_PIECE = 4096;
    /** The size of a stream's identifier. */
    private static final int SNAPPY_HEAD = 10;
    /** The bit that makes the first chunk one that is skipped, whatever it holds. */
    private static final int SNAPPY_SKIPS = SNAPPY_HEAD * Byte.SIZE + 7;
    private static final byte[] CONTENT = ContentTest.lines(300);

    private final Path folder;
    private final Format format;
    private final byte[] packed;

    private BrokenTest(Path folder, Format format) throws IOException {
        this.folder = folder;
        this.format = format;
        packed = format.pack(CONTENT);
    }

    static void test(Path folder, Format format) throws IOException {
        BrokenTest test = new BrokenTest(folder, format);
        test.cuts();
        test.cutsOfLarge();
        test.behind();
        test.flips();
        if (format == Format.BROTLI) {
            test.behindWholePieces();
            test.wholePieces();
        }
    }

    /** Every beginning of a file, of two where frames may follow one another. */
    private void cuts() throws IOException {
        byte[] file = format.hasFrames() ? Format.joined(packed, packed) : packed;
        Map<Integer, byte[]> whole = wholeBeginnings();
        for (int size = 0; size < file.length; size++) {
            Archive cut = archive("cut", Arrays.copyOf(file, size));
            if (whole.containsKey(size)) {
                cut.isReadAs(whole.get(size), "cut after " + size + " bytes, where a frame ends");
            } else {
                cut.fails("cut after " + size + " bytes of " + file.length);
            }
        }
    }

    /** The sizes at which two files in one may be cut, and their content up to there. */
    private Map<Integer, byte[]> wholeBeginnings() {
        Map<Integer, byte[]> whole = new TreeMap<>();
        if (format.hasFrames()) {
            whole.put(packed.length, CONTENT);
        }
        if (format == Format.SNAPPY) {
            whole.put(SNAPPY_HEAD, new byte[0]);
            whole.put(packed.length + SNAPPY_HEAD, CONTENT);
        }
        return whole;
    }

    /** Around the sizes of buffers, the middle and the end. */
    private void cutsOfLarge() throws IOException {
        byte[] random = new byte[400_000];
        new Random(3).nextBytes(random);
        byte[] large = format.pack(random);
        for (int size : new int[] {
            4095, 4096, 4097, 65_535, 65_536, 65_537, 131_074, 131_075, 131_076, 200_000,
            large.length - 5, large.length - 1
        }) {
            archive("large-cut", Arrays.copyOf(large, size))
                    .fails("of " + large.length + " cut after " + size);
        }
        for (int behind : new int[] {1, 3, 4, 100, 70_000}) {
            archive("large-behind", Format.joined(large, Format.bytes(behind, 'x')))
                    .fails("of " + large.length + " with " + behind + " bytes behind");
        }
    }

    private void behind() throws IOException {
        for (int value : new int[] {0, 'x', 0x80, 0xfe, 0xff}) {
            for (int count : new int[] {1, 2, 3, 4, 5, 8, 9, 10, 11, 100, 4096, 70_000}) {
                // Zeros are the padding of xz.
                if (format == Format.XZ && value == 0 && count % 4 == 0) {
                    continue;
                }
                archive("behind", Format.joined(packed, Format.bytes(count, value)))
                        .fails("with " + count + " bytes " + value + " behind");
            }
        }
    }

    /** Every bit: no checksum lets a wrong answer pass. Brotli has none. */
    private void flips() throws IOException {
        for (int bit = 0; bit < packed.length * Byte.SIZE; bit++) {
            if (format == Format.SNAPPY && bit == SNAPPY_SKIPS) {
                continue;
            }
            byte[] wrong = packed.clone();
            wrong[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            Archive flipped = archive("flipped", wrong);
            if (format == Format.BROTLI) {
                Talk talk = flipped.read();
                boolean ends = talk.exit() == 0 || talk.failedWith(flipped.file() + ": ");
                Check.that(ends, format + " with bit " + bit + " flipped", talk);
            } else {
                flipped.failsOrIsReadAs(CONTENT, "with bit " + bit + " flipped");
            }
        }
    }

    /** The decoder has read the whole file, and not seen that it ends. */
    private void behindWholePieces() throws IOException {
        for (int pieces = 1; pieces < 20; pieces++) {
            for (int more = -1; more <= 1; more++) {
                byte[] file = Arrays.copyOf(packed, pieces * BROTLI_PIECE + more);
                archive("pieces", file).fails("with zeros behind, " + file.length + " bytes");
            }
        }
    }

    /** Streams that end with a piece, or almost. */
    private void wholePieces() throws IOException {
        int met = 0;
        for (int size = 6000; met < 3 && size < 40_000; size++) {
            byte[] content = Arrays.copyOf(noise(), size);
            byte[] file = format.pack(content, "--quality=1");
            int rest = file.length % BROTLI_PIECE;
            if (rest < BROTLI_PIECE - 1 && rest > 1) {
                size += Math.max(0, (BROTLI_PIECE - rest) / 2 - 2);
                continue;
            }
            met += rest == 0 ? 1 : 0;
            archive("whole-pieces", file).isReadAs(content, "of " + file.length + " bytes");
            for (int behind = 1; behind < 40; behind++) {
                archive("whole-pieces-behind", Format.joined(file, Format.bytes(behind, 0)))
                        .fails("of " + file.length + " bytes with " + behind + " behind");
            }
        }
        Check.that(met > 0, "a brotli of whole pieces was met", met);
    }

    /** Bytes that take half of their size. */
    private static byte[] noise() {
        byte[] noise = new byte[40_000];
        Random random = new Random(4);
        for (int i = 0; i < noise.length; i++) {
            noise[i] = (byte) ('a' + random.nextInt(16));
        }
        return noise;
    }

    private Archive archive(String name, byte[] bytes) throws IOException {
        return Archive.of(format, folder, name, bytes);
    }
}
