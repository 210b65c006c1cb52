// What the parts of the C contender share: the ways of reading, what is asked of them, and what they find.
#ifndef READLAB_CONTENDER_H
#define READLAB_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// What is done with the bytes; their words in messages are in work_words.
enum work { NEWLINES, LINES, SUM, DISCARD, WORKS };
extern const char *const work_words[WORKS];

enum { SCANS_MAX = 2, PARAMS_MAX = 2 };

// A setting of a method; the name carries its unit.
struct param {
    const char *name;
    uint64_t preset, min, max;
};

// One reading to be made. A path is any bytes; values stand in the order of the method's parameters.
struct request {
    const char *path;
    enum work work;
    const char *scan;
    uint64_t values[PARAMS_MAX];
};

// Proof of work: what a reading found. Only what the method sees is told.
struct answer {
    uint64_t bytes, newlines, lines;
    uint8_t sum;
};

// Why a reading failed, without the path, valid until the next one; NULL when it did not.
typedef const char *cause;

// A way of reading: opens, brings the bytes, closes. Everything between is the window, and nothing is kept.
typedef cause reader(const struct request *request, struct answer *answer);

struct method {
    const char *name;
    const char *about;
    // For each work the ways of visiting the bytes, best first; "-" where there is no choice.
    const char *scans[WORKS][SCANS_MAX];
    struct param params[PARAMS_MAX];
    reader *read;
};

// All ways of reading, in the order in which they are listed; one without a name is the end.
extern const struct method methods[];

// bytes.c
reader read_by_read, read_by_fread, read_by_mmap;
// lines.c
reader read_by_getline, read_by_fgets;

// tally.c: the consumer of all methods that see bytes.
void take(const struct request *request, const unsigned char *bytes, size_t length, struct answer *answer);

// say.c: the messages, one line each.
void say_hello(void);
void say_method(const struct method *method);
void say_ready(const struct method *method, const struct request *request);
void say_sample(const struct method *method, const struct request *request, uint64_t wall_ns,
                const uint64_t cpu_ns[2], const struct answer *answer);
void say_done(uint32_t count);
void say_failed(const char *subject, const char *why);

// session.c: the turns of one conversation; returns the exit code.
int serve(const struct method *method, const struct request *request);

#endif
