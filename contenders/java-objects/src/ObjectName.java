/**
 * The object that is read, as {@code s3://BUCKET/KEY} names it. The key is everything behind the bucket's slash as it
 * is: nothing in it is decoded.
 */
record ObjectName(String bucket, String key) {
    private static final String SCHEME = "s3://";

    static ObjectName parse(String target) throws Refusal {
        int slash = target.indexOf('/', SCHEME.length());
        if (!target.startsWith(SCHEME) || slash <= SCHEME.length() || slash == target.length() - 1) {
            // It may be a URL, whose query is a secret.
            throw new Refusal("this contender reads objects, s3://BUCKET/KEY");
        }
        return new ObjectName(target.substring(SCHEME.length(), slash), target.substring(slash + 1));
    }

    /** For messages. */
    String shown() {
        return SCHEME + bucket + "/" + key;
    }
}
