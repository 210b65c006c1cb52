import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
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

/** A loopback server of files, and one that promises more than it sends, or redirects. */
final class Server implements AutoCloseable {
    private static final String ONLY_HALF = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nConnection: close\r\n\r\nhalf\n";
    private static final String CUT_CHUNK =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n100\r\nhalf\n";

    private static final String MOVED =
            "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    private final HttpServer files;
    private final ServerSocket liar;
    private volatile String lie = ONLY_HALF;

    Server() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        files = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        files.createContext("/", Server::serve);
        files.start();
        liar = new ServerSocket(0, 1, loopback);
        Thread thread = new Thread(this::lieToAll);
        thread.setDaemon(true);
        thread.start();
    }

    private static void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            Path file = Path.of(exchange.getRequestURI().getPath());
            if (!Files.exists(file)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] content = Files.readAllBytes(file);
            exchange.sendResponseHeaders(200, content.length == 0 ? -1 : content.length);
            exchange.getResponseBody().write(content);
        }
    }

    private void lieToAll() {
        while (!liar.isClosed()) {
            try (Socket socket = liar.accept()) {
                socket.getInputStream().read(new byte[4096]);
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

    String urlOfFewerBytesThanPromised() {
        lie = ONLY_HALF;
        return "http://localhost:" + liar.getLocalPort() + "/";
    }

    String urlOfCutConnection() {
        lie = CUT_CHUNK;
        return "http://localhost:" + liar.getLocalPort() + "/";
    }

    String urlOfMoved() {
        lie = MOVED;
        return "http://localhost:" + liar.getLocalPort() + "/";
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
