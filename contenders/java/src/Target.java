import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The target: a path by its exact bytes, perhaps with places of the file, or a URL.
 *
 * <p>Java decodes its arguments by the locale and loses bytes that the locale does not know. The exact bytes are in
 * /proc/self/cmdline, and a {@code file:} URI with percent escapes is the one public way to make a {@link Path} of
 * them. {@link File} cannot do that, so methods with it refuse these names instead of opening another file.
 *
 * @param shown the name for messages; perhaps not exact, and a URL without its query
 * @param path where the file is; empty for a URL
 * @param url the URL; empty for a path
 * @param places the places that are read of the file; empty if all of it is
 */
record Target(String shown, Optional<Path> path, Optional<URI> url, Optional<Places> places) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final String WORKING_DIRECTORY = "/proc/self/cwd/";
    /** The word for a URL that is in the environment, because its query is a secret. */
    private static final String FROM_ENVIRONMENT = "-";
    private static final char REPLACEMENT = '\uFFFD';

    /** The target at {@code index} of the arguments. */
    static Target of(String[] args, int index) throws Refusal {
        String word = args[index];
        String secret = word.equals(FROM_ENVIRONMENT) ? System.getenv("READLAB_TARGET") : null;
        String url = secret == null ? word : secret;
        if (secret != null || isUrl(url)) {
            return ofUrl(url);
        }
        try {
            return new Target(word, Optional.of(exactPath(args, index)), Optional.empty(), Optional.empty());
        } catch (IllegalArgumentException cause) {
            throw new Refusal(word + ": " + Failure.cause(cause));
        }
    }

    private static Target ofUrl(String url) throws Refusal {
        String shown = url.replaceFirst("[?#].*", "");
        try {
            if (isUrl(url)) {
                return new Target(shown, Optional.empty(), Optional.of(URI.create(url)), Optional.empty());
            }
        } catch (IllegalArgumentException malformed) {
            // Its message has the whole URL.
        }
        throw new Refusal(isUrl(url) ? shown + ": not a valid URL" : "READLAB_TARGET is not a URL");
    }

    private static boolean isUrl(String word) {
        return word.startsWith("http://") || word.startsWith("https://");
    }

    /** The file that this one, a list of places, names. */
    Target listed() throws Refusal {
        try {
            Places listed = Places.read(file());
            Path file = listed.file();
            return new Target(file.toString(), Optional.of(file), Optional.empty(), Optional.of(listed));
        } catch (IOException | IllegalArgumentException cause) {
            throw new Refusal(shown + ": " + Failure.cause(cause));
        }
    }

    /** The URL, or the reason why there is none. */
    URI server() throws IOException {
        return url.orElseThrow(() -> new IOException("HttpClient reads URLs only"));
    }

    /** The path, or the reason why it is not available. */
    Path file() throws IOException {
        return path.orElseThrow(() -> new IOException("a URL is read by HttpClient only"));
    }

    /** The path for classes that do not accept a {@link Path}; an inexact one is refused. */
    File legacyFile() throws IOException {
        return legacyFile(file());
    }

    /** A path for classes that do not accept a {@link Path}; an inexact one is refused. */
    static File legacyFile(Path exact) throws NotSpelled {
        File file = new File(exact.toString());
        try {
            if (file.toPath().equals(exact)) {
                return file;
            }
        } catch (InvalidPathException inexact) {
            throw new NotSpelled();
        }
        throw new NotSpelled();
    }

    private static Path exactPath(String[] args, int index) {
        String word = args[index];
        if (isAscii(word)) {
            return Path.of(word);
        }
        Optional<byte[]> bytes = exactBytes(args, index);
        if (bytes.isPresent()) {
            return exactPath(bytes.get());
        }
        if (word.indexOf(REPLACEMENT) >= 0) {
            throw new IllegalArgumentException("the locale's encoding lost bytes of this name");
        }
        return Path.of(word);
    }

    /** The path of exactly these bytes. */
    static Path exactPath(byte[] path) {
        return Path.of(URI.create("file://" + escaped(path)));
    }

    /** The bytes of one argument, if /proc has them and they are ours. */
    private static Optional<byte[]> exactBytes(String[] args, int index) {
        List<byte[]> words;
        try {
            words = split(Files.readAllBytes(COMMAND_LINE));
        } catch (IOException noSuchView) {
            return Optional.empty();
        }
        int first = words.size() - args.length;
        for (int i = 0; i < args.length; i++) {
            if (first < 0 || isAscii(args[i]) && !args[i].equals(ascii(words.get(first + i)))) {
                return Optional.empty();
            }
        }
        return Optional.of(words.get(first + index));
    }

    private static List<byte[]> split(byte[] commandLine) {
        List<byte[]> words = new ArrayList<>();
        ByteArrayOutputStream word = new ByteArrayOutputStream();
        for (byte b : commandLine) {
            if (b == 0) {
                words.add(word.toByteArray());
                word.reset();
            } else {
                word.write(b);
            }
        }
        return words;
    }

    private static String escaped(byte[] path) {
        StringBuilder uri = new StringBuilder(path[0] == '/' ? "" : WORKING_DIRECTORY);
        for (byte b : path) {
            uri.append(b == '/' ? "/" : String.format("%%%02X", b));
        }
        return uri.toString();
    }

    private static boolean isAscii(String word) {
        return word.chars().allMatch(c -> c > 0 && c < 0x80);
    }

    private static String ascii(byte[] word) {
        return new String(word, StandardCharsets.ISO_8859_1);
    }
}
