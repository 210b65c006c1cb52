/** A request that cannot be served as it was spelled: the message says why, in one line. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    Refusal(String message) {
        super(message);
    }
}
