import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The request of one session.
 *
 * @param target what is read
 * @param part the bytes of it that are read
 * @param work what is done with them
 * @param scan the way of visiting them
 * @param params every parameter in force
 * @param server how a server is asked; empty for methods that read files
 * @param dictionary the bytes that the archive was compressed with; empty for methods that take none
 */
record Request(
        Target target, Part part, Work work, String scan, Map<String, Long> params, Optional<HttpSession> server,
        Optional<byte[]> dictionary) {
    private static final int SCAN = 2;
    private static final int WORK = 3;
    private static final int TARGET = 4;

    /** Reads {@code read METHOD SCAN WORK TARGET [name=value ...]} and checks it against the method. */
    static Request parse(Method method, String[] args) throws Refusal {
        Work work = Work.parse(args[WORK]);
        List<String> scans = method.scans().get(work);
        if (scans == null) {
            throw new Refusal(method.name() + " does not do the work '" + work.word() + "'");
        }
        String scan = args[SCAN];
        if (!scans.contains(scan)) {
            throw new Refusal(method.name() + " has no scan '" + scan + "' for " + work.word()
                    + " (it has: " + String.join(", ", scans) + ")");
        }
        Map<String, Long> params = new TreeMap<>();
        Part part = Part.WHOLE;
        Set<String> bounds = new HashSet<>();
        for (int i = TARGET + 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            boolean isBound = pair[0].equals(Part.START_WORD) || pair[0].equals(Part.LENGTH_WORD);
            if (method.parts() && isBound && pair.length == 2 && pair[1].matches("\\d{1,18}")) {
                part = part.with(pair[0], Long.parseLong(pair[1]));
                bounds.add(pair[0]);
            } else if (!method.readsPlaces() || !args[i].equals(Places.WORD)) {
                set(params, method, args[i]);
            }
        }
        if (bounds.size() == 1) {
            throw new Refusal("a part needs both " + Part.START_WORD + " and " + Part.LENGTH_WORD);
        }
        method.params().forEach(param -> params.putIfAbsent(param.name(), param.defaultValue()));
        Target target = target(method, args);
        Optional<byte[]> dictionary = method.takesDictionary() ? Dictionary.read() : Optional.empty();
        return new Request(target, part, work, scan, params, server(method, target, params), dictionary);
    }

    /** The target; of a list of places, the file that it names. */
    private static Target target(Method method, String[] args) throws Refusal {
        Target target = Target.of(args, TARGET);
        if (!method.readsPlaces()) {
            return target;
        }
        if (!List.of(args).subList(TARGET + 1, args.length).contains(Places.WORD)) {
            throw new Refusal(method.name() + " reads places, and the target is no list of them");
        }
        return target.listed();
    }

    private static Optional<HttpSession> server(Method method, Target target, Map<String, Long> params)
            throws Refusal {
        try {
            return method.readsUrls() ? Optional.of(HttpSession.of(params, System.getenv())) : Optional.empty();
        } catch (Refusal cause) {
            throw new Refusal(target.shown() + ": " + cause.getMessage());
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

    /** The HTTP clients of a method that reads URLs. */
    HttpSession http() {
        return server.orElseThrow();
    }

    /** A parameter that fits into an array's length. */
    int intParam(String name) {
        return Math.toIntExact(params.get(name));
    }
}
