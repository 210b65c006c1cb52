import com.github.luben.zstd.ZstdInputStream;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.List;
import net.jpountz.lz4.LZ4FrameInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.XZInputStream;
import org.xerial.snappy.SnappyFramedInputStream;

/**
 * The methods that decode a compressed file with a library, as bytes: from a buffered file into one
 * array.
 *
 * <p>Frames and streams that follow one another are decoded one after the other. Where a library
 * does not notice that a file is cut short or goes on behind its end, the class around its input or
 * output does.
 */
final class DecoderMethods {
    /** The size of the file's buffer, and of the array. */
    private static final Param BUFFER =
            new Param("buffer_bytes", 65_536, 1, StreamMethods.BUFFER_MAX);

    static final List<Method> ALL = List.of(
            method("ZstdInputStream", Method.ZSTD,
                    "frames through the ZstdInputStream of zstd-jni (libzstd)",
                    DecoderMethods::zstd)
                    .unless(MachineCode.lackOfZstd()),
            method("LZ4FrameInputStream", "lz4",
                    "frames through the LZ4FrameInputStream of lz4-java with its fastest decoder",
                    (file, request) -> new LZ4FrameInputStream(file)),
            method("XZInputStream", "xz", "streams through the XZInputStream of XZ for Java",
                    (file, request) -> new XZInputStream(file)),
            method("BZip2CompressorInputStream", "bzip2",
                    "streams through the BZip2CompressorInputStream of Commons Compress",
                    (file, request) -> new BZip2CompressorInputStream(file, true)),
            method("SnappyFramedInputStream", "snappy",
                    "chunks through the SnappyFramedInputStream of snappy-java (libsnappy)",
                    (file, request) -> new SnappyFramedInputStream(new WholeChunks(file)))
                    .unless(MachineCode.lackOfSnappy()),
            method("BrotliInputStream", "brotli",
                    "a stream through the BrotliInputStream of org.brotli:dec",
                    (file, request) -> new WholeBrotli(file)));

    private DecoderMethods() {}

    /** Makes the decoder of a file. */
    private interface Opener {
        InputStream open(InputStream file, Request request) throws IOException;
    }

    private static Method method(String name, String archive, String about, Opener opener) {
        String whole = about + ", from a buffered file into one array";
        Method.Reading reading = request -> read(request, opener);
        return Method.ofBytes(name, whole, List.of(Method.LOOP), reading, BUFFER).decoding(archive);
    }

    private static Answer read(Request request, Opener opener) throws IOException {
        int size = request.intParam(BUFFER.name());
        try (InputStream bytes = Files.newInputStream(request.target().file());
                InputStream file = new BufferedInputStream(bytes, size)) {
            refuseEmpty(file);
            try (InputStream in = opener.open(file, request)) {
                return StreamMethods.drain(in, request);
            }
        }
    }

    /** To some decoders, nothing at all is a file without frames. */
    private static void refuseEmpty(InputStream file) throws IOException {
        file.mark(1);
        if (file.read() < 0) {
            throw new EOFException("the file is empty");
        }
        file.reset();
    }

    private static InputStream zstd(InputStream file, Request request) throws IOException {
        ZstdInputStream in = new ZstdInputStream(file);
        if (request.dictionary().isPresent()) {
            in.setDict(request.dictionary().get());
        }
        return in;
    }
}
