import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.List;
import java.util.stream.Collectors;

/** The runtime of this program, from the management beans: virtual machine, collector, heap limit, flags. */
final class Receipt {
    private Receipt() {}

    static String runtime() {
        RuntimeMXBean machine = ManagementFactory.getRuntimeMXBean();
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .collect(Collectors.joining(" + "));
        List<String> flags = machine.getInputArguments();
        return machine.getVmName() + " " + machine.getVmVersion() + " (" + machine.getVmVendor() + ")"
                + ", collector " + collectors
                + ", heap to " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB"
                + ", flags " + (flags.isEmpty() ? "none" : String.join(" ", flags));
    }
}
