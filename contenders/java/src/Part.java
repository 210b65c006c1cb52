/**
 * The bytes of a file that are read.
 *
 * @param start how many are before them
 * @param length how many they are, as far as the file goes
 */
record Part(long start, long length) {
    /** All of a file. */
    static final Part WHOLE = new Part(0, Long.MAX_VALUE);
    /** The names of the words that ask for a part. */
    static final String START_WORD = "start_bytes";
    static final String LENGTH_WORD = "length_bytes";

    /** The same with one bound set, by the name of its word. */
    Part with(String name, long bytes) {
        return name.equals(START_WORD) ? new Part(bytes, length) : new Part(start, bytes);
    }

    /** Where it ends in a file of this size. */
    long end(long size) {
        return length < size - Math.min(start, size) ? start + length : size;
    }
}
