// The types that the parts of the C contender share: methods, requests and answers.
#ifndef READLAB_CONTENDER_H
#define READLAB_CONTENDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The works; their words in messages are in work_words.
enum work { NEWLINES, LINES, SUM, DISCARD, WORKS };
extern const char *const work_words[WORKS];

enum { SCANS_MAX = 2, PARAMS_MAX = 2 };

// What a method reads, with the word for it in messages, and the one for its pieces if each of them
// is proven.
enum reads { READS_FILE, READS_FOLDER, READS_PLACES, READS };
struct reads_words {
    const char *target, *pieces;
};
extern const struct reads_words reads_words[READS];

// A setting of a method; the name carries its unit.
struct param {
    const char *name;
    uint64_t preset, min, max;
};

// The bytes of a file that are read; without a request for a part, all.
struct part {
    uint64_t start, length;
};

// Blocks of one file, by the offsets at which they begin and by their lengths. block_bytes is the
// length of the longest block; lengths is NULL if all blocks have this length. Without a list of
// them, there is no file.
struct places {
    char *file;
    uint64_t block_bytes;
    uint64_t *offsets, *lengths;
    size_t count;
};

// A request for readings. A path is any bytes; values are in the order of the method's parameters.
// Of a list of places, what it says is here, too.
struct request {
    const char *path;
    struct places places;
    struct part part;
    enum work work;
    const char *scan;
    uint64_t values[PARAMS_MAX];
};

// Proof of work: the answer of a reading. It has only the numbers that the method knows.
struct answer {
    uint64_t bytes, newlines, lines;
    uint8_t sum;
    // Of several files or blocks: how many, and the proof of each (PROTOCOL.md).
    uint64_t pieces, products;
};

// The reason of a failed reading, without the path, valid until the next reading; NULL after success.
typedef const char *cause;

// A method: opens, reads the bytes, closes. All of that is the window, and no state is kept.
typedef cause reader(const struct request *request, struct answer *answer);

struct method {
    const char *name;
    const char *about;
    // For each work the ways of visiting the bytes, best first; "-" if there is no choice.
    const char *scans[WORKS][SCANS_MAX];
    struct param params[PARAMS_MAX];
    reader *read;
    // Whether it reads a part of a file, too.
    bool parts;
    enum reads reads;
    // Why it does not work with this C library; NULL if it does.
    const char *unavailable;
};

// All methods, in the order of the list; a method without a name is the end.
extern const struct method methods[];

// bytes.c
reader read_by_read, read_by_fread, read_by_mmap;
// lines.c
reader read_by_getline, read_by_fgets;
// characters.c
reader read_by_getc, read_by_getc_unlocked;
// folders.c
reader read_by_fts, read_by_nftw;

// places.c
reader read_places_by_pread;

// Why the C library has no fts; NULL if it does.
#if __has_include(<fts.h>)
#define FTS_UNAVAILABLE NULL
#else
#define FTS_UNAVAILABLE "the C library has no fts.h"
#endif

// folders.c: the file below a folder at which the reading failed; empty if the folder itself is the
// reason.
extern char failed_file[PATH_MAX];

// places.c: reads a list of places, which free_places frees, also after a failure.
cause load_places(const char *list, struct places *places);
void free_places(struct places *places);

// stream.c: a stream with a buffer of this many bytes, to be freed after the stream is closed, or of
// the library's size for 0.
FILE *open_stream(const char *path, size_t buffer_bytes, char **buffer);

// tally.c: the consumer of all methods that see bytes.
void take(const struct request *request, const unsigned char *bytes, size_t length, struct answer *answer);

// tally.c: adds the answer about one file or block, which its number proves, to that of all.
void add_piece(enum work work, uint64_t number, const struct answer *piece, struct answer *all);

// tally.c: adds the answer about some of the pieces to that of all.
void merge(const struct answer *some, struct answer *all);

// say.c: the messages, one line each.
void say_hello(void);
void say_method(const struct method *method);
void say_ready(const struct method *method, const struct request *request);
void say_sample(const struct method *method, const struct request *request, uint64_t wall_ns,
                const uint64_t cpu_ns[2], const struct answer *answer);
void say_done(uint32_t count);
void say_unavailable(const char *reason);
void say_failed(const char *subject, const char *why);

// session.c: the turns of one session; returns the exit code.
int serve(const struct method *method, const struct request *request);

#endif
