import java.util.List;

/** The methods of the contender java-decoders: this list replaces the one of the contender java. */
final class Methods {
    /** The name of the contender. */
    static final String CONTENDER = "java-decoders";

    static final List<Method> ALL = DecoderMethods.ALL;

    private Methods() {}
}
