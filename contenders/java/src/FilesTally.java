/** Adds up several files, and proves each of them (PROTOCOL.md). */
final class FilesTally {
    /** The numbers of a file are taken modulo this in its proof. */
    private static final long MODULUS = 65_521;
    private static final long PRODUCTS = 1L << 32;

    private final Tally all;
    private long files;
    private long products;

    FilesTally(Work work) {
        all = new Tally(work);
    }

    /** Adds the tally of one file. */
    void add(Tally file) {
        all.add(file);
        files++;
        products = (products + (file.bytes() % MODULUS + 1) * (file.value() % MODULUS + 1)) % PRODUCTS;
    }

    /** Adds what another one added up. */
    void merge(FilesTally other) {
        all.add(other.all);
        files += other.files;
        products = (products + other.products) % PRODUCTS;
    }

    Answer answer() {
        return all.answer().with("files", files).with("products", products);
    }
}
