import java.util.function.Consumer;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.S3BaseClientBuilder;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Makes the SDK's clients. They have the SDK's defaults: its HTTP clients, its retries, and its checks of checksums,
 * which compare a whole object with the checksum that the server has for it. The rest is what makes contenders
 * comparable: the server and the credentials of the environment alone, no proxy, no encoding.
 */
final class Clients {
    /** The SDK's own limit of connections; there are more if more requests run at once. */
    private static final int CONNECTIONS = 50;

    private Clients() {}

    /** The blocking client, with the Apache HTTP client. */
    static S3Client blocking(Profile profile, Observer observer, int concurrency) {
        Apache5HttpClient.Builder http = Apache5HttpClient.builder()
                .maxConnections(Math.max(CONNECTIONS, concurrency))
                .proxyConfiguration(software.amazon.awssdk.http.apache5.ProxyConfiguration.builder()
                        .useSystemPropertyValues(false)
                        .useEnvironmentVariableValues(false)
                        .build());
        profile.trust().ifPresent(http::tlsTrustManagersProvider);
        return common(S3Client.builder(), profile, observer).httpClientBuilder(http).build();
    }

    /** The asynchronous client, with the Netty HTTP client. */
    static S3AsyncClient asynchronous(
            Profile profile, Observer observer, int concurrency, Consumer<S3AsyncClientBuilder> more) {
        NettyNioAsyncHttpClient.Builder http = NettyNioAsyncHttpClient.builder()
                .maxConcurrency(Math.max(CONNECTIONS, concurrency))
                .proxyConfiguration(software.amazon.awssdk.http.nio.netty.ProxyConfiguration.builder()
                        .useSystemPropertyValues(false)
                        .useEnvironmentVariableValues(false)
                        .build());
        profile.trust().ifPresent(http::tlsTrustManagersProvider);
        S3AsyncClientBuilder builder = common(S3AsyncClient.builder(), profile, observer).httpClientBuilder(http);
        more.accept(builder);
        return builder.build();
    }

    /** Signs URLs; it has no connection. */
    static S3Presigner presigner(Profile profile) {
        return S3Presigner.builder()
                .endpointOverride(profile.endpoint())
                .region(profile.region())
                .credentialsProvider(profile.credentials())
                .serviceConfiguration(S3Configuration.builder()
                        .pathStyleAccessEnabled(profile.pathStyle())
                        .profileFile(Clients::noFile)
                        .build())
                .build();
    }

    private static <B extends S3BaseClientBuilder<B, C> & AwsClientBuilder<B, C>, C> B common(
            B builder, Profile profile, Observer observer) {
        return builder.endpointOverride(profile.endpoint())
                .region(profile.region())
                .credentialsProvider(profile.credentials())
                .forcePathStyle(profile.pathStyle())
                .overrideConfiguration(ClientOverrideConfiguration.builder()
                        .defaultProfileFile(noFile())
                        .putHeader("Accept-Encoding", "identity")
                        .addExecutionInterceptor(observer)
                        .build());
    }

    /** Instead of the files in the user's home. */
    private static ProfileFile noFile() {
        return ProfileFile.aggregator().build();
    }
}
