import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The counts of the management beans since the start of the virtual machine. They are read before the first and after
 * the last reading of a turn, so never inside a window.
 *
 * <p>Bytes are those of all threads, if the virtual machine sums them up (JDK 21, and updates of older ones) and no
 * thread came or went: a thread that ended a moment ago may be missing in the sum.
 */
record Beans(long threadsStarted, int threadsAlive, long collections, long collectionMillis, long allocatedBytes) {
    private static final String ALLOCATED = "allocated_bytes";
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final com.sun.management.ThreadMXBean THREADS = threads();
    private static final Method TOTAL = total();

    /** Called before the first reading; the allocations of this call are excluded. */
    static Beans begin() {
        long collections = ofCollectors(GarbageCollectorMXBean::getCollectionCount);
        long millis = ofCollectors(GarbageCollectorMXBean::getCollectionTime);
        return new Beans(startedSoFar(), alive(), collections, millis, allocated());
    }

    /** After the last reading: the counts since the beginning. */
    List<Count> end() {
        long allocatedNow = allocated();
        long collectionsNow = ofCollectors(GarbageCollectorMXBean::getCollectionCount);
        long millisNow = ofCollectors(GarbageCollectorMXBean::getCollectionTime);
        return List.of(
                allocations(allocatedNow),
                Count.of("gc_collections", collectionsNow - collections, "GarbageCollectorMXBean.getCollectionCount"),
                Count.of("gc_ns", (millisNow - collectionMillis) * NANOS_PER_MILLI,
                        "GarbageCollectorMXBean.getCollectionTime, which counts milliseconds"));
    }

    private Count allocations(long allocatedNow) {
        if (THREADS == null || TOTAL == null) {
            return Count.none(ALLOCATED, "this virtual machine does not count what all threads allocate");
        }
        if (startedSoFar() != threadsStarted || alive() != threadsAlive) {
            return Count.none(ALLOCATED, "threads came or went, and what an ended one allocated is not always known");
        }
        return Count.of(ALLOCATED, allocatedNow - allocatedBytes, "ThreadMXBean.getTotalThreadAllocatedBytes");
    }

    private static int alive() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long startedSoFar() {
        return ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
    }

    private static long allocated() {
        try {
            if (TOTAL != null) {
                return (long) TOTAL.invoke(THREADS);
            }
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
        return 0;
    }

    private static com.sun.management.ThreadMXBean threads() {
        boolean counts = ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean bean
                && bean.isThreadAllocatedMemorySupported()
                && bean.isThreadAllocatedMemoryEnabled();
        return counts ? (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean() : null;
    }

    /** Compiled for the first JDK 17, which lacks it. */
    private static Method total() {
        try {
            return THREADS == null
                    ? null
                    : com.sun.management.ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
        } catch (NoSuchMethodException older) {
            return null;
        }
    }

    private static long ofCollectors(ToLongFunction<GarbageCollectorMXBean> count) {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(count)
                .filter(value -> value >= 0)
                .sum();
    }
}
