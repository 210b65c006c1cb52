import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.http.HttpClient;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Tests when the clients of a turn end. */
final class HttpSessionTest {
    private HttpSessionTest() {}

    /** Since JDK 21 a client is closed after its reading, and no collection is needed. */
    static void test() throws IOException, InterruptedException, Refusal {
        if (AutoCloseable.class.isAssignableFrom(HttpClient.class)) {
            return;
        }
        HttpSession session = HttpSession.of(Map.of(HttpSession.KEPT.name(), 0L, HttpSession.HTTP.name(), 1L), Map.of());
        AtomicReference<HttpClient> held = new AtomicReference<>();
        session.read(client -> {
            held.set(client);
            return Answer.ofLines(0);
        });
        WeakReference<HttpClient> client = new WeakReference<>(held.get());
        WeakReference<Object> collected = new WeakReference<>(new Object());
        Thread holder = new Thread(() -> {
            while (!collected.refersTo(null)) {
                Thread.onSpinWait();
            }
            held.set(null);
        });
        holder.start();
        session.endTurn();
        Check.that(client.refersTo(null), "a client that is referred to during a collection ends with its turn", client);
        holder.join();
    }
}
