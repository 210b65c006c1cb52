import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/**
 * The request of one session: an object and where it is, the work on it, and every parameter in
 * force.
 */
record Request(ObjectName object, Profile profile, Work work, Map<String, Long> params) {
    private static final int SCAN = 2;
    private static final int WORK = 3;
    private static final int TARGET = 4;

    /**
     * Reads {@code read METHOD SCAN WORK TARGET [name=value ...]} and checks it against the method.
     */
    static Request parse(Method method, String[] args) throws Refusal {
        Work work = Work.parse(args[WORK]);
        List<String> scans = Method.SCANS.get(work);
        String scan = args[SCAN];
        if (!scans.contains(scan)) {
            throw new Refusal(method.name() + " has no scan '" + scan + "' for " + work.word()
                    + " (it has: " + String.join(", ", scans) + ")");
        }
        Map<String, Long> params = new TreeMap<>();
        for (int i = TARGET + 1; i < args.length; i++) {
            set(params, method, args[i]);
        }
        method.params().forEach(param -> params.putIfAbsent(param.name(), param.defaultValue()));
        ObjectName object = ObjectName.parse(args[TARGET]);
        try {
            return new Request(object, new Profile(System.getenv()), work, params);
        } catch (Refusal cause) {
            throw new Refusal(object.shown() + ": " + cause.getMessage());
        }
    }

    private static void set(Map<String, Long> params, Method method, String word) throws Refusal {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        Param param = method.params().stream()
                .filter(known -> known.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal(method.name() + " has no parameter '" + name + "'"));
        String digits = word.substring(equals + 1);
        long value = digits.matches("\\d{1,18}") ? Long.parseLong(digits) : -1;
        if (equals < 0 || value < param.min() || value > param.max()) {
            throw new Refusal(method.name() + ": " + name + " must be an integer from " + param.min() + " to "
                    + param.max() + ", got '" + word + "'");
        }
        if (params.put(name, value) != null) {
            throw new Refusal(method.name() + ": " + name + " is given twice");
        }
    }

    boolean kept() {
        return params.get(Method.KEPT.name()) == 1;
    }

    /** A parameter that fits into an array's length. */
    int intParam(String name) {
        return Math.toIntExact(params.get(name));
    }

    /** The GET of the whole object. */
    GetObjectRequest get() {
        return GetObjectRequest.builder()
                .bucket(object.bucket())
                .key(object.key())
                .ifMatch(profile.etag().orElse(null))
                .build();
    }

    /** The GET of a range, of the version with this ETag. */
    GetObjectRequest get(PartRange range, Optional<String> etag) {
        return get().toBuilder().range(range.header()).ifMatch(etag.orElse(null)).build();
    }
}
