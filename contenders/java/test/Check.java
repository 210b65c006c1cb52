/** Counts passed checks and prints failed ones. */
final class Check {
    private static int passed;
    private static int failed;

    private Check() {}

    static void that(boolean holds, String what, Object seen) {
        if (holds) {
            passed++;
        } else {
            failed++;
            System.out.println("FAILED: " + what + ": " + seen);
        }
    }

    /** Prints the totals; returns the exit code. */
    static int finish() {
        System.out.println(passed + " passed, " + failed + " failed");
        return failed == 0 && passed > 0 ? 0 : 1;
    }
}
