import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All methods, in the order of the list. */
final class Methods {
    static final List<Method> ALL = Stream.of(
                    LineMethods.ALL, StreamMethods.ALL, ChannelMethods.ALL, SegmentMethods.ALL, FolderMethods.ALL,
                    PlacesMethods.ALL, ArchiveMethods.ALL, HttpMethods.ALL)
            .flatMap(List::stream)
            .collect(Collectors.toUnmodifiableList());

    private Methods() {}

    static Method named(String name) throws Refusal {
        return ALL.stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("there is no method '" + name + "'"));
    }
}
