import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Tests of what a session takes from its environment: certificates, the ETag, a URL that is a
 * secret. Each session is a process; the certificates are made by keytool.
 */
final class HttpTest {
    private static final List<String> METHODS = List.of("HttpClient", "HttpClient-stream", "HttpClient-ranged");
    private static final String PASSWORD = "not-a-secret";
    private static final String CONTENT = "a\nb\n";

    private final Path folder;
    private final Path build;
    private final Server server;
    private final Path file;

    private HttpTest(Path folder, Server server, Path build) throws IOException {
        this.folder = folder;
        this.server = server;
        this.build = build;
        this.file = Files.writeString(folder.resolve("served"), CONTENT);
    }

    static void test(Path folder, Server server, Path build) throws Exception {
        HttpTest test = new HttpTest(folder, server, build);
        test.environment();
        test.version();
        test.certificates();
    }

    private void environment() throws Exception {
        String url = server.url(file);
        for (String method : METHODS) {
            answers(read(method, url, Map.of("READLAB_ETAG", Server.ETAG)), method + " of the right ETag");
            answers(read(method, "-", Map.of("READLAB_TARGET", url + "?secret=1")), method + " of a secret URL");
            Talk changed = read(method, "-", Map.of("READLAB_TARGET", url + "?secret=1", "READLAB_ETAG", "\"two\""));
            boolean silent = changed.lines().stream().noneMatch(line -> line.contains("secret"));
            Check.that(changed.failedWith("HTTP status 412") && silent, method + " of another ETag", changed);
            Talk malformed = read(method, "-", Map.of("READLAB_TARGET", "http://local host/?secret=1"));
            boolean hidden = malformed.lines().stream().noneMatch(line -> line.contains("secret"));
            Check.that(malformed.failedWith("not a valid URL") && hidden, method + " of no URL", malformed);
        }
    }

    private void version() throws Exception {
        for (String method : METHODS) {
            Talk older = read(method, server.url(file), Map.of(), "http=2");
            Check.that(older.failedWith("does not speak HTTP/2"), method + " of a server without HTTP/2", older);
            answers(read(method, server.url(file), Map.of(), "kept=1"), method + " with a kept client");
        }
    }

    private void certificates() throws Exception {
        Path trusted = certificate("localhost");
        HttpsServer encrypted = server.encrypted(context("localhost"));
        HttpsServer other = server.encrypted(context(certificateOf("elsewhere.example")));
        try {
            for (String method : METHODS) {
                String url = url(encrypted);
                answers(read(method, url, Map.of("READLAB_CACERT", trusted.toString())), method + " with encryption");
                Talk unknown = read(method, url, Map.of());
                Check.that(unknown.failedWith("TLS: "), method + " of an unknown certificate", unknown);
                String elsewhere = folder.resolve("elsewhere.example.pem").toString();
                Talk foreign = read(method, url(other), Map.of("READLAB_CACERT", elsewhere));
                Check.that(foreign.failedWith("localhost"), method + " of a certificate for another host", foreign);
            }
            Talk none = read("HttpClient", url(encrypted), Map.of("READLAB_CACERT", file.toString()));
            boolean named = none.failedWith(url(encrypted) + ": READLAB_CACERT: ");
            Check.that(named, "a file without certificates", none);
        } finally {
            encrypted.stop(0);
            other.stop(0);
        }
    }

    private String url(HttpsServer encrypted) {
        return "https://localhost:" + encrypted.getAddress().getPort() + file;
    }

    private static void answers(Talk talk, String what) {
        Map<String, Long> truth = Map.of("bytes", (long) CONTENT.length(), "newlines", 2L);
        Check.that(talk.exit() == 0 && talk.answers().equals(List.of(truth, truth)), what, talk);
    }

    private Talk read(String method, String target, Map<String, String> environment, String... params)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(ProcessTest.program(), "-XX:TieredStopAtLevel=1", "-cp",
                build.toString(), "Reader", "read", method, "loop", "newlines", target));
        command.addAll(List.of(params));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().write("go 0 2\n".getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().close();
        return ProcessTest.ended(process);
    }

    private String certificateOf(String host) throws Exception {
        certificate(host);
        return host;
    }

    /** Makes a key and its certificate; returns the certificate's PEM file. */
    private Path certificate(String host) throws Exception {
        Path pem = folder.resolve(host + ".pem");
        keytool("-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=" + host, "-ext", "san=dns:" + host,
                "-validity", "2", "-keystore", store(host), "-storepass", PASSWORD);
        keytool("-exportcert", "-rfc", "-alias", "server", "-file", pem.toString(), "-keystore", store(host),
                "-storepass", PASSWORD);
        return pem;
    }

    private String store(String host) {
        return folder.resolve(host + ".p12").toString();
    }

    private static void keytool(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of(ProcessTest.program().replaceFirst("java$", "keytool")));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Check.that(process.waitFor() == 0, "keytool " + words[0], said);
    }

    private SSLContext context(String host) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream stored = Files.newInputStream(Path.of(store(host)))) {
            keys.load(stored, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }
}
