import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * The clients of a session that reads from a server. With {@code kept=1} one is made before the
 * first window and serves all readings; with {@code kept=0} each reading makes one. No proxy and no
 * redirect: every method must request the same bytes from the same server.
 *
 * <p>Before JDK 21 a client cannot be closed: it ends when the collector finds that nothing refers
 * to it, so the collector is called at the end of a turn. A thread of the client may refer to it
 * for a moment after the last answer: one collection is not always enough.
 */
final class HttpSession {
    static final Param KEPT = new Param("kept", 0, 0, 1);
    static final Param HTTP = new Param("http", 1, 1, 2);
    private static final int COLLECTIONS_MAX = 50;
    private static final long COLLECTION_PAUSE_NANOS = 10_000_000;

    // The properties are read once, when the first client or request is made. The client must not
    // repeat a request, because it would not say so: HttpRequests does it.
    static {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
        System.setProperty("jdk.httpclient.redirects.retrylimit", "1");
        System.setProperty("jdk.httpclient.disableRetryConnect", "true");
    }

    private final Trust trust;
    private final Optional<String> etag;
    private final Version version;
    private final Optional<HttpClient> kept;
    private final List<WeakReference<HttpClient>> unclosed = new ArrayList<>();

    /** Uses a client for one reading. */
    interface Use {
        Answer with(HttpClient client) throws IOException, InterruptedException;
    }

    private HttpSession(Trust trust, Optional<String> etag, Version version, boolean keeps) throws IOException {
        this.trust = trust;
        this.etag = etag;
        this.version = version;
        this.kept = keeps ? Optional.of(make()) : Optional.empty();
    }

    /** Makes what stays from reading to reading. */
    static HttpSession of(Map<String, Long> params, Map<String, String> environment) throws Refusal {
        Trust trust = Trust.from(value(environment, "READLAB_CACERT"));
        Version version = params.get(HTTP.name()) == 2 ? Version.HTTP_2 : Version.HTTP_1_1;
        try {
            return new HttpSession(trust, value(environment, "READLAB_ETAG"), version, params.get(KEPT.name()) == 1);
        } catch (IOException cause) {
            throw new Refusal("HttpClient: " + Failure.cause(cause));
        }
    }

    private static Optional<String> value(Map<String, String> environment, String variable) {
        return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
    }

    private HttpClient make() throws IOException {
        return HttpClient.newBuilder()
                .version(version)
                .sslContext(trust.context())
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(HttpClient.Builder.NO_PROXY)
                .build();
    }

    /** One reading, with the kept client or with a new one. */
    Answer read(Use use) throws IOException, InterruptedException {
        if (kept.isPresent()) {
            return use.with(kept.get());
        }
        HttpClient client = make();
        try {
            return use.with(client);
        } finally {
            close(client);
        }
    }

    private void close(HttpClient client) throws IOException {
        if (client instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception cause) {
                throw new IOException(cause);
            }
        } else {
            unclosed.add(new WeakReference<>(client));
        }
    }

    /** Called between turns: the clients of its readings end. */
    void endTurn() {
        for (int i = 0; i < COLLECTIONS_MAX && !unclosed.isEmpty(); i++) {
            System.gc();
            unclosed.removeIf(client -> client.refersTo(null));
            if (!unclosed.isEmpty()) {
                LockSupport.parkNanos(COLLECTION_PAUSE_NANOS);
            }
        }
    }

    /** The GET of the whole, the only request of its reading. */
    HttpRequest whole(URI url) {
        HttpRequest.Builder get = get(url);
        if (kept.isEmpty() && version == Version.HTTP_1_1) {
            get.header("Connection", "close");
        }
        return get.build();
    }

    /** One of several requests of a reading, which may use one connection after the other. */
    HttpRequest.Builder get(URI url) {
        HttpRequest.Builder get = HttpRequest.newBuilder(url).header("Accept-Encoding", "identity");
        etag.ifPresent(value -> get.header("If-Match", value));
        return get;
    }

    /** What every answer to it must be. */
    HttpHead expected(int status) {
        return new HttpHead(status, etag, version, List.of());
    }
}
