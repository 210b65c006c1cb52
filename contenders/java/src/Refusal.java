/** A request that is not possible: the message has the reason, in one line. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean unavailable;

    Refusal(String message) {
        this(message, false);
    }

    private Refusal(String message, boolean unavailable) {
        super(message);
        this.unavailable = unavailable;
    }

    /** What cannot be done here, although nothing has failed. */
    static Refusal unavailable(String message) {
        return new Refusal(message, true);
    }

    /** The last message of the session. */
    String line() {
        return unavailable ? Say.unavailable(getMessage()) : Say.failed(getMessage());
    }
}
