import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * By which certificates servers are trusted: those of READLAB_CACERT, a PEM file, or those of the JDK.
 *
 * @param managers of the file's certificates; none for those of the JDK
 */
record Trust(Optional<TrustManager[]> managers) {
    /** Read once for a session. */
    static Trust from(Optional<String> file) throws Refusal {
        if (file.isEmpty()) {
            return new Trust(Optional.empty());
        }
        try (InputStream pem = Files.newInputStream(Path.of(file.get()))) {
            return new Trust(Optional.of(managers(pem)));
        } catch (GeneralSecurityException | IOException cause) {
            throw new Refusal("READLAB_CACERT: " + file.get() + ": " + Failure.cause(cause));
        }
    }

    /** Each client has a context of its own, so that it cannot resume the encryption of an earlier client. */
    SSLContext context() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.orElse(null), null);
            return context;
        } catch (GeneralSecurityException cause) {
            throw new IOException(cause);
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
