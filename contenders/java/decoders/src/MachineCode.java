import com.github.luben.zstd.util.Native;
import com.github.luben.zstd.util.ZstdVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.xerial.snappy.Snappy;
import org.xerial.snappy.SnappyLoader;

/**
 * The parts of the libraries that are machine code.
 *
 * <p>The build copied them into the folder of java.library.path, where zstd-jni and lz4-java find
 * their own. Each library would otherwise unpack its own into java.io.tmpdir whenever it is loaded,
 * and leave it there when the lab ends the virtual machine. Without machine code, lz4-java decodes
 * in Java.
 */
final class MachineCode {
    private static final Path FOLDER = Path.of(System.getProperty("java.library.path"));

    private MachineCode() {}

    /** Why zstd-jni cannot decode here, if so. */
    static Optional<String> lackOfZstd() {
        return lack("libzstd-jni-" + ZstdVersion.VERSION + ".so", Native::load);
    }

    /** Why snappy-java cannot decode here, if so. */
    static Optional<String> lackOfSnappy() {
        System.setProperty(SnappyLoader.KEY_SNAPPY_LIB_PATH, FOLDER.toString());
        return lack("libsnappyjava.so", Snappy::getNativeLibraryVersion);
    }

    private static Optional<String> lack(String library, Runnable load) {
        if (!Files.exists(FOLDER.resolve(library))) {
            return Optional.of("the build found no " + library + " for this processor");
        }
        try {
            load.run();
            return Optional.empty();
        } catch (Exception | Error failure) {
            return Optional.of(library + " cannot be loaded: " + Failure.cause(failure));
        }
    }
}
