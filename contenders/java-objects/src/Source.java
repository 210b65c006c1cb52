import java.io.IOException;

/**
 * A way to read one object, with a client that is open. With {@code kept=1} it serves the whole session, with
 * {@code kept=0} one reading, and then it is made and closed within the window.
 */
interface Source extends AutoCloseable {
    /** Reads the object once; what it returns proves the work. */
    Tally read(Window window) throws IOException, InterruptedException;

    /** Closes the client and its connections. */
    @Override
    void close();
}
