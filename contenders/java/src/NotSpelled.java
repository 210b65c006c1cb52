import java.io.IOException;

/** A name of a file that a class of Java cannot spell: the method is unavailable for it, and nothing has failed. */
final class NotSpelled extends IOException {
    private static final long serialVersionUID = 1L;

    NotSpelled() {
        super("java.io.File cannot spell this name in the locale's " + System.getProperty("sun.jnu.encoding"));
    }
}
