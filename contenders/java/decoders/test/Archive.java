import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A file in a format, and what the contender answers about it. */
record Archive(Format format, Path file) {
    private static final int LARGE_BYTES = 400_000;
    private static final String ONE_TURN = "hello ready sample " + Talk.COUNTS + " done";

    static Archive of(Format format, Path folder, String name, byte[] bytes) throws IOException {
        return new Archive(format, Files.write(folder.resolve(name + "." + format.word()), bytes));
    }

    /** Its sum and bytes by one reading. */
    Talk read() {
        String method = format.method().name();
        return Talk.of("go 0 1\n", "read", method, Method.LOOP, Work.SUM.word(), file.toString());
    }

    /** Every work, of a small content with arrays of several sizes: the answers are true. */
    void answers(Corpus content, String what) {
        boolean isSmall = content.content().length < LARGE_BYTES;
        List<Integer> sizes = isSmall ? List.of(7, 65_536, 1 << 20) : List.of(65_536);
        for (Work work : List.of(Work.NEWLINES, Work.SUM, Work.DISCARD)) {
            sizes.forEach(size -> answers(content, what, work, "buffer_bytes=" + size));
        }
    }

    private void answers(Corpus content, String what, Work work, String buffer) {
        String scan = format.method().scans().get(work).get(0);
        Talk talk = Talk.read(format.method(), scan, work, file.toString(), buffer);
        boolean turns = talk.shape().equals(Talk.TWO_TURNS) && talk.exit() == 0;
        String cell = format + " " + what + " " + work + " " + buffer;
        Check.that(turns && isTrue(talk, content, work), cell, talk + ", true: " + content.truth());
    }

    /** One reading has the answer of the content. */
    void isReadAs(byte[] content, String what) {
        Talk talk = read();
        Check.that(isRight(talk, content), format + " " + what, talk);
    }

    /** The failure has the path; nothing is answered. */
    void fails(String what) {
        Talk talk = read();
        Check.that(isFailure(talk), format + " " + what + " fails", talk);
    }

    /** It fails, or the answer is that of the content: never another one. */
    void failsOrIsReadAs(byte[] content, String what) {
        Talk talk = read();
        boolean holds = isFailure(talk) || isRight(talk, content);
        Check.that(holds, format + " " + what + " is not answered wrongly", talk);
    }

    private boolean isFailure(Talk talk) {
        return talk.shape().equals("hello ready failed") && talk.failedWith(file + ": ");
    }

    private static boolean isRight(Talk talk, byte[] content) {
        return talk.shape().equals(ONE_TURN)
                && isTrue(talk, new Corpus("", content, true), Work.SUM);
    }

    private static boolean isTrue(Talk talk, Corpus content, Work work) {
        Map<String, Long> truth = content.truth();
        truth.keySet().retainAll(Arrays.asList("bytes", work.word()));
        return !talk.answers().isEmpty() && talk.answers().stream().allMatch(truth::equals);
    }
}
