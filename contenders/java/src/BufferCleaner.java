import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Frees a direct buffer, and unmaps a mapped one, at once.
 *
 * <p>Java has no public way to do so before the arenas of JDK 22; the collector does it some time later, outside any
 * window. {@code sun.misc.Unsafe.invokeCleaner}, in the module jdk.unsupported, has been the known way since JDK 9.
 * It is looked up by name because it will be removed; without it the methods that need it are unavailable, and only
 * the method with MemorySegment remains.
 */
final class BufferCleaner {
    private static final Optional<MethodHandle> INVOKE_CLEANER = find();

    private BufferCleaner() {}

    private static Optional<MethodHandle> find() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            MethodType type = MethodType.methodType(void.class, ByteBuffer.class);
            return Optional.of(
                    MethodHandles.lookup().findVirtual(unsafe, "invokeCleaner", type).bindTo(instance.get(null)));
        } catch (ReflectiveOperationException | RuntimeException gone) {
            return Optional.empty();
        }
    }

    static Optional<String> unavailable() {
        return INVOKE_CLEANER.isPresent()
                ? Optional.empty()
                : Optional.of("this Java cannot free a direct or mapped buffer: sun.misc.Unsafe.invokeCleaner is gone");
    }

    /** The buffer must be the one that was allocated or mapped, and must not be used again. */
    static void free(ByteBuffer buffer) {
        try {
            INVOKE_CLEANER.orElseThrow().invoke(buffer);
        } catch (Throwable impossible) {
            throw new IllegalStateException("a buffer could not be freed", impossible);
        }
    }
}
