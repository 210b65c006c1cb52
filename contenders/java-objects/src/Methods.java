import java.util.List;

/** All methods, in the order of the list. */
final class Methods {
    private static final Param BUFFER = new Param("buffer_bytes", 65_536, 1, 1 << 30);
    private static final Param PART = new Param("part_bytes", 8_388_608, 65_536, 1 << 30);
    private static final Param CONCURRENCY = new Param("concurrency", 8, 1, 256);

    static final List<Method> ALL = List.of(
            new Method("S3Client", "getObject of the AWS SDK's blocking client, its stream read into one array",
                    List.of(BUFFER, Method.KEPT), BlockingSource::stream),
            new Method("S3Client-bytes", "getObjectAsBytes of the AWS SDK's blocking client: the object in one array",
                    List.of(Method.KEPT), BlockingSource::bytes),
            new Method("S3AsyncClient",
                    "getObject of the AWS SDK's asynchronous client (Netty), its buffers visited as they come",
                    List.of(Method.KEPT), AsyncSource::open),
            new Method("S3Client-ranged", "ranges by the AWS SDK's blocking client, each read by a thread",
                    List.of(PART, CONCURRENCY, Method.KEPT), RangedSource::open),
            new Method("S3TransferManager",
                    "the AWS SDK's transfer manager (in Java, over Netty): ranges of a URL that it presigned, visited as"
                            + " they come",
                    List.of(PART, CONCURRENCY, Method.KEPT), TransferSource::ranges),
            new Method("S3TransferManager-parts",
                    "the AWS SDK's transfer manager (in Java, over Netty): the parts in which the object was uploaded,"
                            + " visited as they come",
                    List.of(CONCURRENCY, Method.KEPT), TransferSource::uploadedParts));

    private Methods() {}

    static Method named(String name) throws Refusal {
        return ALL.stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("there is no method '" + name + "'"));
    }
}
