/** Adds up several files, or several blocks of one, and proves each of them (PROTOCOL.md). */
final class PiecesTally {
    /** The words for them in messages. */
    static final String FILES = "files";
    static final String BLOCKS = "blocks";
    /** The numbers of a file or block are taken modulo this in its proof. */
    private static final long MODULUS = 65_521;
    private static final long PRODUCTS = 1L << 32;

    private final String word;
    private final Tally all;
    private long pieces;
    private long products;

    PiecesTally(String word, Work work) {
        this.word = word;
        all = new Tally(work);
    }

    /** Adds the tally of one file. */
    void addFile(Tally file) {
        add(file.bytes(), file);
    }

    /** Adds the tally of a file or block, which its number proves. */
    void add(long number, Tally piece) {
        all.add(piece);
        pieces++;
        products = (products + (number % MODULUS + 1) * (piece.value() % MODULUS + 1)) % PRODUCTS;
    }

    /** Adds what another one added up. */
    void merge(PiecesTally other) {
        all.add(other.all);
        pieces += other.pieces;
        products = (products + other.products) % PRODUCTS;
    }

    Answer answer() {
        return all.answer().with(word, pieces).with("products", products);
    }
}
