import com.github.luben.zstd.util.ZstdVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.xerial.snappy.OSInfo;

/**
 * A step of the build: copies the machine code for this processor out of the libraries, {@code
 * Unpack FOLDER}.
 */
public final class Unpack {
    private Unpack() {}

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        String processor = System.getProperty("os.arch");
        String snappy = OSInfo.getNativeLibFolderPathForCurrentOS();
        copy("/linux/" + processor, "libzstd-jni-" + ZstdVersion.VERSION + ".so", folder);
        copy("/net/jpountz/util/linux/" + processor, "liblz4-java.so", folder);
        copy("/org/xerial/snappy/native/" + snappy, "libsnappyjava.so", folder);
    }

    private static void copy(String from, String name, Path folder) throws IOException {
        try (InputStream library = Unpack.class.getResourceAsStream(from + "/" + name)) {
            if (library == null) {
                System.err.println("there is no " + name + " for this processor");
            } else {
                Files.copy(library, folder.resolve(name));
            }
        }
    }
}
