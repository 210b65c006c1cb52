import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.security.cert.CertificateException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/**
 * Turns an exception into a short message; the caller puts the object in front. Messages of the SDK can have a URL,
 * whose query is a secret, so only the innermost cause is shown, without queries.
 */
final class Failure {
    private Failure() {}

    /** Waits for a result of the SDK. */
    static <T> T await(CompletableFuture<T> result) throws IOException, InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException failure) {
            throw new IOException(failure.getCause());
        }
    }

    static String cause(Throwable failure) {
        Throwable innermost = failure;
        for (int depth = 0; depth < 32; depth++) {
            if (innermost instanceof AwsServiceException answer) {
                return status(answer);
            }
            if (innermost instanceof CertificateException || innermost.getCause() == null) {
                break;
            }
            innermost = innermost.getCause();
        }
        return shortly(failure, innermost);
    }

    private static String status(AwsServiceException answer) {
        String code = answer.awsErrorDetails() == null ? null : answer.awsErrorDetails().errorCode();
        return "HTTP status " + answer.statusCode() + (code == null || code.isBlank() ? "" : ", " + code);
    }

    private static String shortly(Throwable failure, Throwable innermost) {
        if (innermost instanceof ConnectException) {
            return "could not connect";
        }
        if (innermost instanceof UnknownHostException) {
            return "the host's name is unknown";
        }
        if (innermost instanceof SocketTimeoutException) {
            return "the server did not answer in time";
        }
        if (innermost instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (innermost instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (has(failure, SSLException.class) || has(failure, CertificateException.class)) {
            return "TLS: " + message(innermost);
        }
        if (innermost instanceof OutOfMemoryError) {
            long heapMiB = Runtime.getRuntime().maxMemory() >> 20;
            return "out of memory: " + message(innermost) + " (the heap may grow to " + heapMiB + " MiB)";
        }
        return message(innermost);
    }

    private static boolean has(Throwable failure, Class<? extends Throwable> kind) {
        for (Throwable link = failure; link != null; link = link.getCause()) {
            if (kind.isInstance(link)) {
                return true;
            }
        }
        return false;
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage();
        boolean silent = message == null || message.isBlank();
        return silent ? failure.getClass().getSimpleName() : message.strip().replaceAll("\\?[^\\s\"']*", "");
    }
}
