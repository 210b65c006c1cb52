// All methods, in the order of the list.
#include "contender.h"

const char *const work_words[WORKS] = {"newlines", "lines", "sum", "discard"};
const struct reads_words reads_words[READS] = {
    [READS_FILE] = {"file", NULL}, [READS_FOLDER] = {"folder", "files"}, [READS_PLACES] = {"places", "blocks"}};

#define BYTES_MAX ((uint64_t)1 << 30)
#define OF_BYTES {[NEWLINES] = {"memchr", "loop"}, [SUM] = {"loop"}, [DISCARD] = {"-"}}
#define OF_CHARACTERS {[NEWLINES] = {"-"}, [SUM] = {"-"}, [DISCARD] = {"-"}}
#define OF_LINES {[NEWLINES] = {"-"}, [LINES] = {"-"}}
// The buffer of a stream; 0 leaves its size to the library, which commonly uses the file system's block.
#define STREAM_BUFFER {"buffer_bytes", 0, 0, BYTES_MAX}

const struct method methods[] = {
    {"read", "read(2) in a loop into one buffer", OF_BYTES, {{"buffer_bytes", 65536, 1, BYTES_MAX}}, read_by_read,
     .parts = true},
    {"mmap", "the whole file mapped by mmap(2)", OF_BYTES, {{0}}, read_by_mmap, .parts = true},
    {"fread", "fread in a loop into one array; so large a one is filled without the stream's own buffer", OF_BYTES,
     {{"array_bytes", 65536, 1, BYTES_MAX}}, read_by_fread, .parts = true},
    {"getline", "getline, which grows its line; a stream's buffer of 0 bytes is the library's own", OF_LINES,
     {STREAM_BUFFER}, read_by_getline, .parts = false},
    {"fgets", "fgets into an array; a file with NUL bytes fails, for they end its strings", OF_LINES,
     {{"line_bytes", 4096, 2, BYTES_MAX}, STREAM_BUFFER}, read_by_fgets, .parts = false},
    {"getc", "a call of getc for each byte; a stream's buffer of 0 bytes is the library's own", OF_CHARACTERS,
     {STREAM_BUFFER}, read_by_getc, .parts = false},
    {"getc_unlocked", "getc_unlocked for each byte, which is inlined and takes no lock", OF_CHARACTERS, {STREAM_BUFFER},
     read_by_getc_unlocked, .parts = false},
    {"nftw", "nftw of a folder, and read(2) of each regular file into one buffer", OF_BYTES,
     {{"buffer_bytes", 65536, 1, BYTES_MAX}}, read_by_nftw, .reads = READS_FOLDER},
    {"fts", "fts_read of a folder, and read(2) of each regular file into one buffer", OF_BYTES,
     {{"buffer_bytes", 65536, 1, BYTES_MAX}}, read_by_fts, .reads = READS_FOLDER, .unavailable = FTS_UNAVAILABLE},
    {"places-pread", "pread(2) of the block at each place, by threads that take places in turn", OF_BYTES,
     {{"threads", 1, 1, 1024}}, read_places_by_pread, .reads = READS_PLACES},
    {0},
};
