/** A request that is not possible: the message has the reason, in one line. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    Refusal(String message) {
        super(message);
    }
}
