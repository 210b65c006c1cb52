import java.util.List;
import java.util.Optional;

/**
 * The stand-in for the methods with MemorySegment, for compilers older than JDK 22. src22 has the real class under
 * the same name, and build.sh replaces this one.
 */
final class SegmentMethods {
    static final List<Method> ALL = List.of(
            Method.ofBytes("MemorySegment", "the whole file mapped as one MemorySegment", List.of(Method.LOOP, Method.BULK),
                    SegmentMethods::absent).unless(Optional.of(reason())));

    private SegmentMethods() {}

    private static String reason() {
        String have = System.getProperty("java.specification.version");
        return "java.lang.foreign wants this contender built and run by JDK 22 or later; this is Java " + have;
    }

    private static Answer absent(Request request) {
        throw new UnsupportedOperationException(reason());
    }
}
