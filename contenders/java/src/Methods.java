import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All methods of the contender, in the order of the list; in another contender, its list replaces this one. */
final class Methods {
    /** The name of the contender. */
    static final String CONTENDER = "java";
    static final List<Method> ALL = Stream.of(
                    LineMethods.ALL, StreamMethods.ALL, ChannelMethods.ALL, SegmentMethods.ALL, FolderMethods.ALL,
                    PlacesMethods.ALL, ArchiveMethods.ALL, HttpMethods.ALL)
            .flatMap(List::stream)
            .collect(Collectors.toUnmodifiableList());

    private Methods() {}
}
