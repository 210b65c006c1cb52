import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/** A loopback server of files, and one that promises more than it sends, or redirects. */
final class Server implements AutoCloseable {
    /** The ETag of every file. */
    static final String ETAG = "\"one\"";

    private final HttpServer files;
    private final ServerSocket liar;
    private volatile String lie = "";
    private volatile int hangUps;

    Server() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        files = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        start(files);
        liar = new ServerSocket(0, 1, loopback);
        Thread thread = new Thread(this::lieToAll);
        thread.setDaemon(true);
        thread.start();
    }

    /** Serves files with encryption, too, until this server closes. */
    HttpsServer encrypted(SSLContext context) throws IOException {
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        start(server);
        return server;
    }

    private static void start(HttpServer server) {
        server.createContext("/", Server::serve);
        server.setExecutor(Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        }));
        server.start();
    }

    private static void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            // The client, too, must not ask for an encoding of its own accord.
            if (!"identity".equals(exchange.getRequestHeaders().getFirst("Accept-Encoding"))) {
                exchange.sendResponseHeaders(406, -1);
                return;
            }
            Path file = Path.of(exchange.getRequestURI().getPath());
            if (!Files.exists(file)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            String match = exchange.getRequestHeaders().getFirst("If-Match");
            if (match != null && !match.equals(ETAG)) {
                exchange.sendResponseHeaders(412, -1);
                return;
            }
            exchange.getResponseHeaders().add("ETag", ETAG);
            answer(exchange, Files.readAllBytes(file));
        }
    }

    private static void answer(HttpExchange exchange, byte[] content) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        if (range == null) {
            exchange.sendResponseHeaders(200, content.length == 0 ? -1 : content.length);
            exchange.getResponseBody().write(content);
            return;
        }
        String[] bounds = range.replace("bytes=", "").split("-");
        int first = Integer.parseInt(bounds[0]);
        if (first >= content.length) {
            exchange.sendResponseHeaders(416, -1);
            return;
        }
        int last = (int) Math.min(Long.parseLong(bounds[1]), content.length - 1);
        exchange.getResponseHeaders().add("Content-Range", "bytes " + first + "-" + last + "/" + content.length);
        exchange.sendResponseHeaders(206, last - first + 1);
        exchange.getResponseBody().write(content, first, last - first + 1);
    }

    private void lieToAll() {
        while (!liar.isClosed()) {
            try (Socket socket = liar.accept()) {
                socket.getInputStream().read(new byte[4096]);
                if (hangUps > 0) {
                    hangUps--;
                    continue;
                }
                OutputStream out = socket.getOutputStream();
                out.write(lie.getBytes(StandardCharsets.US_ASCII));
                out.flush();
            } catch (IOException closed) {
                // The test is over, or a client disconnected, which is a case of the tests.
            }
        }
    }

    String url(Path file) {
        return "http://localhost:" + files.getAddress().getPort() + URI.create(file.toUri().getRawPath());
    }

    String urlOfMoved() {
        return urlOf("302 Found; Location: /elsewhere; Content-Length: 0", "");
    }

    /** Answers every request with the same bytes, and closes. */
    String urlOf(String head, String body) {
        lie = "HTTP/1.1 " + head.replace("; ", "\r\n") + "\r\nConnection: close\r\n\r\n" + body;
        return "http://localhost:" + liar.getLocalPort() + "/?secret=1";
    }

    /** Closes some connections without an answer, and gives the answer over the next one. */
    String urlAfterHangUps(int count, String head, String body) {
        hangUps = count;
        return urlOf(head, body);
    }

    String urlOfNobody() throws IOException {
        try (ServerSocket shortLived = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "http://localhost:" + shortLived.getLocalPort() + "/";
        }
    }

    @Override
    public void close() throws IOException {
        files.stop(0);
        liar.close();
    }
}
