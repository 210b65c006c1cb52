import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLHandshakeException;

/** Turns an exception into a short message; the caller puts the path in front. */
final class Failure {
    /** What the HTTP client's stream says of itself, whatever the reason is. */
    private static final String STREAM_IS_CLOSED = "closed";

    private Failure() {}

    /** The failure of an answer's body, out of what the HTTP client wrapped around it. */
    static IOException ofBody(Throwable failure) {
        Throwable body = failure;
        while (body.getCause() != null
                && (body instanceof ExecutionException || body instanceof CompletionException
                        || STREAM_IS_CLOSED.equals(body.getMessage()))) {
            body = body.getCause();
        }
        return body instanceof IOException cause ? cause : new IOException(cause(body), body);
    }

    /** Waits for an answer of the HTTP client. */
    static <T> T await(CompletableFuture<T> answer) throws IOException, InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException failure) {
            throw ofBody(failure);
        }
    }

    /** The file or folder, of several, that was not read; empty if it is not known. */
    static Optional<String> file(Throwable failure) {
        if (failure instanceof UncheckedIOException) {
            return file(failure.getCause());
        }
        if (failure instanceof FileFailure one) {
            return Optional.of(one.shown());
        }
        return failure instanceof FileSystemException system
                ? Optional.ofNullable(system.getFile())
                : Optional.empty();
    }

    static String cause(Throwable failure) {
        if (failure instanceof UncheckedIOException || failure instanceof ExecutionException
                || failure instanceof FileFailure) {
            return cause(failure.getCause());
        }
        if (failure instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof FileSystemException system && system.getReason() != null) {
            return system.getReason();
        }
        if (failure instanceof FileNotFoundException) {
            return behindThePath(message(failure));
        }
        if (failure instanceof ConnectException) {
            return "could not connect";
        }
        if (failure instanceof SSLHandshakeException) {
            return "TLS: " + message(failure);
        }
        if (failure instanceof CharacterCodingException) {
            return "not valid UTF-8 (" + message(failure) + ")";
        }
        if (failure instanceof EOFException) {
            return "ends too early: " + message(failure);
        }
        if (failure instanceof OutOfMemoryError) {
            long heapMiB = Runtime.getRuntime().maxMemory() >> 20;
            return "out of memory: " + message(failure) + " (the heap may grow to " + heapMiB + " MiB)";
        }
        return message(failure);
    }

    /** {@code FileNotFoundException} says "path (cause)"; the path is known already. */
    private static String behindThePath(String message) {
        int open = message.lastIndexOf(" (");
        return open < 0 || !message.endsWith(")") ? message : message.substring(open + 2, message.length() - 1);
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage();
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message.strip();
    }
}
