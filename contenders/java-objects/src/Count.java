import java.util.OptionalLong;

/**
 * A count of the virtual machine during the readings of a turn.
 *
 * @param of name with unit
 * @param value the count; none if it could not be counted
 * @param how the way of counting, or why there is no value
 */
record Count(String of, OptionalLong value, String how) {
    static Count of(String of, long value, String how) {
        return new Count(of, OptionalLong.of(value), how);
    }

    static Count none(String of, String why) {
        return new Count(of, OptionalLong.empty(), why);
    }
}
