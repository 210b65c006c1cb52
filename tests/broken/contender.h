// The parts of the small contender that a fault can use, and those that a fault can replace.
#ifndef BROKEN_CONTENDER_H
#define BROKEN_CONTENDER_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum method { READ, MMAP, LIST, FOLDER, PLACES, METHODS };
enum work { NEWLINES, LINES, SUM, DISCARD, WORKS };

struct part {
    uint64_t start, length;
};

// What one session reads. A list of files is in paths. For a list of places, path is the file,
// offsets are those of its blocks, and lengths is NULL if all blocks have block_bytes.
extern struct request {
    enum method method;
    enum work work;
    const char *path;
    uint64_t buffer_bytes, block_bytes;
    struct part part;
    size_t count;
    const char **paths;
    uint64_t *offsets, *lengths;
} request;

struct answer {
    uint64_t bytes, newlines, lines, pieces;
    uint32_t products;
    uint8_t sum;
    // Whether the last byte so far is no newline.
    bool is_within_a_line;
};

struct sample {
    uint64_t wall_ns;
    struct answer answer;
};

// For faults to use. Those that return an int return the number of an error, or 0.
void hello(int protocol, const char *name, const char *runtime);
void print_escaped(const char *string);
void count_bytes(const unsigned char *bytes, size_t length, struct answer *answer);
int read_target(struct answer *answer);
int timed(struct sample *sample);
int take_turn(uint32_t lead, uint32_t timed_readings);
// The length of the UTF-8 sequence at the start of a string; 0 if there is none.
size_t sequence(const char *text);

// For faults to replace: a fault defines one of these again.
// Before anything is said.
void begin(void);
void say_hello(void);
void say_sample(const struct sample *sample);
void say_done(uint32_t count);
void say_failed(const char *subject, const char *why);
// Whether misuse is accepted: of a "method", "scan", "work", "parameter", "value" or "turn".
bool accepts(const char *misuse);
int turn(uint32_t lead, uint32_t timed_readings);
uint64_t window(uint64_t start_ns, uint64_t end_ns);
int reading(struct answer *answer);
int open_file(const char *path);
void close_file(int file);
void unmap(void *bytes, size_t length);
struct part part_of(uint64_t file_bytes);
void take(const unsigned char *bytes, size_t length, struct answer *answer);
uint64_t lines_of(const struct answer *answer);
uint32_t product(uint64_t number, uint64_t value);
// The path of this number in the list of files; NULL at its end.
const char *listed(size_t number);
uint64_t offset_of(size_t number);
uint64_t length_of(size_t number);
int walk_flags(void);
bool is_wanted(const char *name, const struct stat *about);
// After the last turn.
int exit_code(void);

#endif
