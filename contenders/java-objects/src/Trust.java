import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Optional;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.http.TlsTrustManagersProvider;

/** The certificates of READLAB_CACERT, a PEM file, by which servers are trusted instead of those of the JDK. */
final class Trust {
    private Trust() {}

    /** Read once, before the first window. */
    static Optional<TlsTrustManagersProvider> from(Optional<String> file) throws Refusal {
        if (file.isEmpty()) {
            return Optional.empty();
        }
        try (InputStream pem = Files.newInputStream(Path.of(file.get()))) {
            TrustManager[] managers = managers(pem);
            return Optional.of(() -> managers);
        } catch (GeneralSecurityException | IOException cause) {
            throw new Refusal("READLAB_CACERT: " + file.get() + ": " + Failure.cause(cause));
        }
    }

    private static TrustManager[] managers(InputStream pem) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int count = 0;
        for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
            store.setCertificateEntry("certificate-" + count++, certificate);
        }
        if (count == 0) {
            throw new IOException("has no certificate");
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }
}
