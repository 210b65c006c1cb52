import java.net.URI;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.TlsTrustManagersProvider;
import software.amazon.awssdk.regions.Region;

/**
 * How objects are requested, from the environment (PROTOCOL.md). It is no record, because the {@code toString} of a
 * record would have the credentials.
 */
final class Profile {
    private final Map<String, String> environment;
    private final URI endpoint;
    private final Optional<TlsTrustManagersProvider> trust;

    Profile(Map<String, String> environment) throws Refusal {
        this.environment = environment;
        this.endpoint = endpoint(required("AWS_ENDPOINT_URL_S3"));
        this.trust = Trust.from(of("READLAB_CACERT"));
        required("AWS_REGION");
    }

    URI endpoint() {
        return endpoint;
    }

    Region region() {
        return Region.of(environment.get("AWS_REGION"));
    }

    boolean pathStyle() {
        return of("READLAB_S3_STYLE").filter("path"::equals).isPresent();
    }

    /** The strong ETag that every response must have; empty if the server has none. */
    Optional<String> etag() {
        return of("READLAB_ETAG");
    }

    /** The certificates that are trusted instead of those of the JDK. */
    Optional<TlsTrustManagersProvider> trust() {
        return trust;
    }

    boolean signs() {
        return of("AWS_ACCESS_KEY_ID").isPresent() && of("AWS_SECRET_ACCESS_KEY").isPresent();
    }

    /** What is in the environment and nothing else: no file and no service of the machine is asked. */
    AwsCredentialsProvider credentials() {
        if (!signs()) {
            return AnonymousCredentialsProvider.create();
        }
        String id = environment.get("AWS_ACCESS_KEY_ID");
        String secret = environment.get("AWS_SECRET_ACCESS_KEY");
        return StaticCredentialsProvider.create(of("AWS_SESSION_TOKEN").isPresent()
                ? AwsSessionCredentials.create(id, secret, environment.get("AWS_SESSION_TOKEN"))
                : AwsBasicCredentials.create(id, secret));
    }

    private Optional<String> of(String variable) {
        return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
    }

    private String required(String variable) throws Refusal {
        return of(variable).orElseThrow(() -> new Refusal(variable + " is not set"));
    }

    private static URI endpoint(String word) throws Refusal {
        try {
            return URI.create(word);
        } catch (IllegalArgumentException malformed) {
            throw new Refusal("AWS_ENDPOINT_URL_S3 is not a URL");
        }
    }
}
