import java.io.OutputStream;
import java.util.Arrays;

/** The consumer as a stream: what is written into it is visited, and not kept. */
final class TallyStream extends OutputStream {
    private final Tally tally;

    TallyStream(Tally tally) {
        this.tally = tally;
    }

    @Override
    public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int start, int length) {
        tally.take(start == 0 ? bytes : Arrays.copyOfRange(bytes, start, start + length), length);
    }
}
