import java.io.File;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The runtime of this program, from the management beans: virtual machine, libraries, collector, heap limit, flags.
 * The flag that only says where libraries are is left out.
 */
final class Receipt {
    private static final String PLACE_FLAG = "-Djava.library.path=";

    private Receipt() {}

    static String runtime() {
        RuntimeMXBean machine = ManagementFactory.getRuntimeMXBean();
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .collect(Collectors.joining(" + "));
        List<String> flags = machine.getInputArguments().stream()
                .filter(flag -> !flag.startsWith(PLACE_FLAG))
                .toList();
        return machine.getVmName() + " " + machine.getVmVersion() + " (" + machine.getVmVendor() + ")"
                + libraries()
                + ", collector " + collectors
                + ", heap to " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB"
                + ", flags " + (flags.isEmpty() ? "none" : String.join(" ", flags));
    }

    /** Those on the class path with their versions, by the names of their files. */
    private static String libraries() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(path -> new File(path).getName())
                .filter(name -> name.endsWith(".jar"))
                .map(name -> ", " + name.replaceFirst("-(\\d.*)[.]jar$", " $1"))
                .sorted()
                .collect(Collectors.joining());
    }
}
