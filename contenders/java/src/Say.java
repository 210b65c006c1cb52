import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The messages of the protocol as lines of flat JSON, without their newline. */
final class Say {
    private static final int PROTOCOL = 1;
    private static final String VERSION = "0.1.0";

    private Say() {}

    static String hello() {
        return message("hello", "\"protocol\":" + PROTOCOL, field("contender", Methods.CONTENDER),
                field("version", VERSION), field("runtime", Receipt.runtime()));
    }

    static String method(Method method) {
        Map<Work, List<String>> sorted = new TreeMap<>(method.scans());
        String scans = sorted.entrySet().stream()
                .map(entry -> quoted(entry.getKey().word()) + ":" + list(entry.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        String params = method.params().stream().map(Say::param).collect(Collectors.joining(",", "[", "]"));
        String decodes = method.decodes().isEmpty() ? "" : ",\"decodes\":" + list(method.decodes());
        String dictionary = method.takesDictionary() ? ",\"dictionary\":true" : "";
        String parts = method.parts() ? ",\"parts\":true" : "";
        String tls = method.readsUrls() ? ",\"tls\":true" : "";
        String unavailable = method.unavailable().map(why -> "," + field("unavailable", why)).orElse("");
        return message("method", field("method", method.name()), "\"scans\":" + scans, "\"params\":" + params,
                field("about", method.about()), field("cache", "through"),
                field("reads", method.reads()) + decodes + dictionary + parts + tls + unavailable);
    }

    static String ready(Map<String, Long> params) {
        return message("ready", "\"params\":{" + numbers(params) + "}");
    }

    static String sample(Session.Sample sample) {
        return message("sample", "\"wall_ns\":" + sample.wallNanos(), numbers(sample.answer().found()));
    }

    static String count(Count count) {
        String value = count.value().isPresent() ? "\"value\":" + count.value().getAsLong() + "," : "";
        return message("count", field("of", count.of()), value + field("how", count.how()));
    }

    static String done(long count) {
        return message("done", "\"count\":" + count);
    }

    static String unavailable(String reason) {
        return message("unavailable", field("reason", reason));
    }

    static String failed(String reason) {
        return message("failed", field("reason", reason));
    }

    private static String message(String word, String... fields) {
        return "{" + field("say", word) + "," + String.join(",", fields) + "}";
    }

    private static String param(Param param) {
        return "{" + field("name", param.name()) + ",\"default\":" + param.defaultValue() + ",\"min\":"
                + param.min() + ",\"max\":" + param.max() + "}";
    }

    private static String list(List<String> words) {
        return words.stream().map(Say::quoted).collect(Collectors.joining(",", "[", "]"));
    }

    private static String numbers(Map<String, Long> values) {
        return values.entrySet().stream()
                .map(entry -> quoted(entry.getKey()) + ":" + entry.getValue())
                .collect(Collectors.joining(","));
    }

    private static String field(String name, String value) {
        return quoted(name) + ":" + quoted(value);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
