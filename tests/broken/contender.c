// A contender that follows PROTOCOL.md, as small as it can be. Each file of faults/ replaces one of
// its weak functions where both are linked: a contender with exactly one fault. Its first lines are
// data for the test: the `fault`, the `method` if only one has it, and either the `words` that
// verify must say, each anywhere, or why it `passes`. A contender's name is that of its program.
#define _GNU_SOURCE // nftw, program_invocation_short_name
#include "contender.h"

#include <endian.h>
#include <ftw.h>
#include <limits.h>
#include <time.h>

#define REPLACEABLE __attribute__((weak))
enum { BUFFER_BYTES = 65536, BUFFER_BYTES_MAX = 1 << 30, NUMBER_BYTES = 8, PROOF_MODULUS = 65521 };

static const char *const works[WORKS] = {"newlines", "lines", "sum", "discard"};
static const struct {
    const char *name, *reads, *list_word, *pieces, *about;
    bool has_buffer, has_parts;
} methods[METHODS] = {
    [READ] = {"read", "file", NULL, NULL, "pread(2) in a loop", true, true},
    [MMAP] = {"mmap", "file", NULL, NULL, "mmap(2)", false, true},
    [LIST] = {"list", "list", "list=1", "files", "the files of a list by pread(2)", true, false},
    [FOLDER] = {"folder", "folder", NULL, "files", "the files that nftw(3) finds, by pread(2)", true, false},
    [PLACES] = {"places", "places", "places=1", "blocks", "blocks by pread(2)", false, false},
};

struct request request;
// The file that could not be read.
static char failed_path[PATH_MAX];

// The shortest of what a fault can replace.
REPLACEABLE void begin(void) {}
REPLACEABLE void say_hello(void) { hello(1, program_invocation_short_name, "C"); }
REPLACEABLE bool accepts(const char *misuse) { return false; }
REPLACEABLE int turn(uint32_t lead, uint32_t timed_readings) { return take_turn(lead, timed_readings); }
REPLACEABLE uint64_t window(uint64_t start_ns, uint64_t end_ns) { return end_ns - start_ns; }
REPLACEABLE int reading(struct answer *answer) { return read_target(answer); }
REPLACEABLE int open_file(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }
REPLACEABLE void close_file(int file) { close(file); }
REPLACEABLE void unmap(void *bytes, size_t length) { munmap(bytes, length); }
REPLACEABLE struct part part_of(uint64_t file_bytes) { return request.part; }
REPLACEABLE uint64_t lines_of(const struct answer *answer) { return answer->newlines + answer->is_within_a_line; }
REPLACEABLE const char *listed(size_t number) { return number < request.count ? request.paths[number] : NULL; }
REPLACEABLE uint64_t offset_of(size_t number) { return request.offsets[number]; }
REPLACEABLE uint64_t length_of(size_t number)
{
    return request.lengths ? request.lengths[number] : request.block_bytes;
}
REPLACEABLE int walk_flags(void) { return FTW_PHYS; }
REPLACEABLE bool is_wanted(const char *name, const struct stat *about) { return S_ISREG(about->st_mode); }
REPLACEABLE int exit_code(void) { return 0; }

// Messages

size_t sequence(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = *byte < 0x80 ? 1 : *byte < 0xC2 ? 0 : *byte < 0xE0 ? 2 : *byte < 0xF0 ? 3 : *byte < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    bool is_invalid = (*byte == 0xE0 && byte[1] < 0xA0) || (*byte == 0xED && byte[1] > 0x9F) ||
                      (*byte == 0xF0 && byte[1] < 0x90) || (*byte == 0xF4 && byte[1] > 0x8F);
    return is_invalid ? 0 : length;
}

void print_escaped(const char *string)
{
    for (size_t length; *string; string += length ? length : 1) {
        length = sequence(string);
        if (length == 0)
            printf("\uFFFD");
        else if (*string == '"' || *string == '\\' || (length == 1 && *string < ' '))
            printf("\\u%04x", *string);
        else
            printf("%.*s", (int)length, string);
    }
}

void hello(int protocol, const char *name, const char *runtime)
{
    printf("{\"say\":\"hello\",\"protocol\":%d,\"contender\":\"%s\",\"version\":\"1\",\"runtime\":\"%s\"}\n", protocol,
           name, runtime);
    fflush(stdout);
}

static bool can_do(enum method method, enum work work)
{
    return work != LINES || method != PLACES;
}

static void say_method(enum method method)
{
    printf("{\"say\":\"method\",\"method\":\"%s\",\"about\":\"%s\",\"cache\":\"through\",\"reads\":\"%s\"",
           methods[method].name, methods[method].about, methods[method].reads);
    if (methods[method].has_buffer)
        printf(",\"params\":[{\"name\":\"buffer_bytes\",\"default\":%d,\"min\":1,\"max\":%d}]", BUFFER_BYTES,
               BUFFER_BYTES_MAX);
    if (methods[method].has_parts)
        printf(",\"parts\":true");
    printf(",\"scans\":{");
    for (enum work work = 0; work < WORKS; work++)
        if (can_do(method, work))
            printf("%s\"%s\":[\"-\"]", work ? "," : "", works[work]);
    puts("}}");
}

static void say_ready(void)
{
    printf("{\"say\":\"ready\",\"params\":{");
    if (methods[request.method].has_buffer)
        printf("\"buffer_bytes\":%" PRIu64, request.buffer_bytes);
    puts("}}");
    fflush(stdout);
}

REPLACEABLE void say_sample(const struct sample *sample)
{
    const struct answer *answer = &sample->answer;
    printf("{\"say\":\"sample\",\"wall_ns\":%" PRIu64 ",\"bytes\":%" PRIu64, sample->wall_ns, answer->bytes);
    if (request.work == NEWLINES || request.work == LINES)
        printf(",\"newlines\":%" PRIu64, answer->newlines);
    if (request.work == LINES)
        printf(",\"lines\":%" PRIu64, answer->lines);
    if (request.work == SUM)
        printf(",\"sum\":%u", answer->sum);
    if (methods[request.method].pieces)
        printf(",\"%s\":%" PRIu64 ",\"products\":%" PRIu32, methods[request.method].pieces, answer->pieces,
               answer->products);
    puts("}");
}

REPLACEABLE void say_done(uint32_t count)
{
    printf("{\"say\":\"done\",\"count\":%" PRIu32 "}\n", count);
    fflush(stdout);
}

REPLACEABLE void say_failed(const char *subject, const char *why)
{
    printf("{\"say\":\"failed\",\"reason\":\"");
    print_escaped(subject);
    printf(": %s\"}\n", why);
    fflush(stdout);
}

// Readings

void count_bytes(const unsigned char *bytes, size_t length, struct answer *answer)
{
    for (size_t i = 0; i < length; i++) {
        answer->newlines += bytes[i] == '\n';
        answer->sum += bytes[i];
        answer->is_within_a_line = bytes[i] != '\n';
    }
}

REPLACEABLE void take(const unsigned char *bytes, size_t length, struct answer *answer)
{
    answer->bytes += length;
    count_bytes(bytes, length, answer);
}

REPLACEABLE uint32_t product(uint64_t number, uint64_t value)
{
    return (uint32_t)((number % PROOF_MODULUS + 1) * (value % PROOF_MODULUS + 1));
}

// Adds the answer about a file, or the block of this number, to that of all.
static void add(const struct answer *one, uint64_t number, struct answer *all)
{
    uint64_t lines = lines_of(one);
    const uint64_t values[WORKS] = {one->newlines, lines, one->sum, one->bytes};
    all->bytes += one->bytes;
    all->newlines += one->newlines;
    all->lines += lines;
    all->sum += one->sum;
    all->pieces++;
    all->products += product(number, values[request.work]);
}

static int failed_at(const char *path, int error)
{
    snprintf(failed_path, sizeof failed_path, "%s", path);
    return error;
}

static int read_part(int file, struct part part, struct answer *answer)
{
    unsigned char *buffer = malloc(request.buffer_bytes);
    if (!buffer)
        return errno;
    ssize_t length = 0;
    for (uint64_t done = 0; done < part.length; done += (uint64_t)length) {
        uint64_t left = part.length - done, most = left < request.buffer_bytes ? left : request.buffer_bytes;
        length = pread(file, buffer, most, (off_t)(part.start + done));
        if (length <= 0)
            break;
        take(buffer, (size_t)length, answer);
    }
    int error = length < 0 ? errno : 0;
    free(buffer);
    return error;
}

static int map_part(int file, struct part part, uint64_t file_bytes, struct answer *answer)
{
    uint64_t after = file_bytes > part.start ? file_bytes - part.start : 0;
    size_t length = part.length < after ? part.length : after;
    if (length == 0)
        return 0;
    void *bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)part.start);
    if (bytes == MAP_FAILED)
        return errno;
    take(bytes, length, answer);
    unmap(bytes, length);
    return 0;
}

static int read_file(const char *path, struct answer *all)
{
    struct answer answer = {0};
    struct stat about;
    int file = open_file(path);
    if (file < 0)
        return failed_at(path, errno);
    int error = fstat(file, &about) != 0 ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (!error) {
        uint64_t file_bytes = (uint64_t)about.st_size;
        struct part part = part_of(file_bytes);
        error = request.method == MMAP ? map_part(file, part, file_bytes, &answer) : read_part(file, part, &answer);
    }
    close_file(file);
    add(&answer, answer.bytes, all);
    return error ? failed_at(path, error) : 0;
}

static int read_list(struct answer *all)
{
    const char *path;
    int error = 0;
    for (size_t i = 0; !error && (path = listed(i)); i++)
        error = read_file(path, all);
    return error;
}

// A function that nftw calls has no argument of its caller's.
static struct answer *walked;

// A result other than 0 ends the walk.
static int visit(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    if (kind == FTW_DNR || kind == FTW_NS)
        return failed_at(path, errno ? errno : EACCES);
    return kind == FTW_F && is_wanted(path + place->base, about) ? read_file(path, walked) : 0;
}

static int read_folder(struct answer *all)
{
    enum { OPEN_FOLDERS_MAX = 20 };
    walked = all;
    int error = nftw(request.path, visit, OPEN_FOLDERS_MAX, walk_flags());
    return error < 0 ? failed_at(request.path, errno) : error;
}

static int read_block(int file, unsigned char *block, uint64_t block_bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < block_bytes) {
        ssize_t length = pread(file, block + done, block_bytes - done, (off_t)(offset + done));
        if (length <= 0)
            return length < 0 ? errno : ENODATA;
        done += (size_t)length;
    }
    return 0;
}

static int read_places(struct answer *all)
{
    int file = open_file(request.path);
    if (file < 0)
        return failed_at(request.path, errno);
    unsigned char *block = malloc(request.block_bytes);
    int error = block ? 0 : errno;
    for (size_t i = 0; !error && i < request.count; i++) {
        struct answer answer = {0};
        error = read_block(file, block, length_of(i), offset_of(i));
        if (error)
            break;
        take(block, length_of(i), &answer);
        add(&answer, i, all);
    }
    free(block);
    close_file(file);
    return error ? failed_at(request.path, error) : 0;
}

int read_target(struct answer *answer)
{
    *answer = (struct answer){0};
    return request.method == LIST     ? read_list(answer)
           : request.method == FOLDER ? read_folder(answer)
           : request.method == PLACES ? read_places(answer)
                                      : read_file(request.path, answer);
}

// Turns

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int timed(struct sample *sample)
{
    uint64_t start_ns = now_ns();
    int error = reading(&sample->answer);
    sample->wall_ns = window(start_ns, now_ns());
    return error;
}

int take_turn(uint32_t lead, uint32_t timed_readings)
{
    struct sample untimed, *samples = calloc(timed_readings, sizeof *samples);
    int error = samples ? 0 : failed_at(request.path, errno);
    for (uint32_t i = 0; i < lead && !error; i++)
        error = reading(&untimed.answer);
    for (uint32_t i = 0; i < timed_readings && !error; i++)
        error = timed(&samples[i]);
    for (uint32_t i = 0; i < timed_readings && !error; i++)
        say_sample(&samples[i]);
    if (!error)
        say_done(timed_readings);
    free(samples);
    return error;
}

// Ends the program at misuse, unless that is accepted.
static void refuse(const char *misuse, const char *word)
{
    if (accepts(misuse))
        return;
    char why[64];
    snprintf(why, sizeof why, "no such %s", misuse);
    say_failed(word, why);
    exit(1);
}

static int serve(void)
{
    char line[64], more;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t lead, timed_readings;
        int found = sscanf(line, "go %" SCNu64 " %" SCNu64 " %c", &lead, &timed_readings, &more);
        if (found != 2 || lead > UINT32_MAX || timed_readings == 0 || timed_readings > UINT32_MAX) {
            refuse("turn", line);
            lead = 0;
            timed_readings = 1;
        }
        int error = turn((uint32_t)lead, (uint32_t)timed_readings);
        if (error) {
            say_failed(failed_path, strerror(error));
            return 1;
        }
    }
    return exit_code();
}

// The command line

// The value of a word NAME=DIGITS.
static bool has_value(const char *word, const char *name, uint64_t min, uint64_t max, uint64_t *value)
{
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || word[length] != '=')
        return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(word + length + 1, &end, 10);
    bool is_number = word[length + 1] >= '0' && word[length + 1] <= '9' && *end == '\0' && errno == 0;
    if (is_number && number >= min && number <= max)
        *value = number;
    else
        refuse("value", word);
    return true;
}

// Takes in the length after each offset, for a list whose blocks have different lengths. block_bytes
// becomes the length of the longest block.
static int load_lengths(void)
{
    if (request.count % 2 != 0)
        return EINVAL;
    request.count /= 2;
    request.lengths = malloc((request.count + 1) * sizeof *request.lengths);
    if (!request.lengths)
        return errno;
    for (size_t i = 0; i < request.count; i++) {
        request.lengths[i] = request.offsets[2 * i + 1];
        request.offsets[i] = request.offsets[2 * i];
        if (request.lengths[i] > request.block_bytes)
            request.block_bytes = request.lengths[i];
    }
    return request.block_bytes ? 0 : EINVAL;
}

// Takes in the paths or places of a list, whose bytes are kept.
static int load_list(const char *path)
{
    struct stat about;
    FILE *list = fopen(path, "r");
    if (!list || fstat(fileno(list), &about) != 0)
        return errno;
    size_t size = (size_t)about.st_size;
    char *bytes = malloc(size + 1);
    void *pieces = malloc((size + 1) * sizeof(uint64_t));
    if (!bytes || !pieces || fread(bytes, 1, size, list) != size)
        return errno;
    fclose(list);
    bytes[size] = 1; // No path ends here.
    const char *next = bytes, *end = bytes + size;
    request.paths = pieces;
    request.offsets = pieces;
    if (request.method == LIST) {
        for (; next < end; next += strlen(next) + 1) {
            if (!*next || !memchr(next, '\0', (size_t)(end - next)))
                return EINVAL;
            request.paths[request.count++] = next;
        }
        return 0;
    }
    request.path = bytes;
    next = memchr(bytes, '\0', size);
    size_t numbers = next ? (size_t)(end - ++next) / NUMBER_BYTES : 0;
    if (numbers == 0 || !*bytes || next + numbers * NUMBER_BYTES != end)
        return EINVAL;
    memcpy(request.offsets, next, numbers * NUMBER_BYTES);
    for (size_t i = 0; i < numbers; i++)
        request.offsets[i] = le64toh(request.offsets[i]);
    request.block_bytes = *request.offsets++;
    request.count = numbers - 1;
    return request.block_bytes ? 0 : load_lengths();
}

// METHOD SCAN WORK TARGET [name=value ...]
static void parse(char **words)
{
    request = (struct request){.path = words[3], .buffer_bytes = BUFFER_BYTES, .part = {0, UINT64_MAX}};
    while (request.method < METHODS && strcmp(methods[request.method].name, words[0]) != 0)
        request.method++;
    if (request.method == METHODS) {
        refuse("method", words[0]);
        request.method = READ;
    }
    if (strcmp(words[1], "-") != 0)
        refuse("scan", words[1]);
    while (request.work < WORKS && strcmp(works[request.work], words[2]) != 0)
        request.work++;
    if (request.work == WORKS || !can_do(request.method, request.work)) {
        refuse("work", words[2]);
        request.work = DISCARD;
    }
    bool has_buffer = methods[request.method].has_buffer, has_parts = methods[request.method].has_parts;
    bool is_list = false, has_start = false, has_length = false;
    const char *list_word = methods[request.method].list_word;
    for (char **word = words + 4; *word; word++)
        if (list_word && strcmp(*word, list_word) == 0)
            is_list = true;
        else if (has_parts && has_value(*word, "start_bytes", 0, INT64_MAX, &request.part.start))
            has_start = true;
        else if (has_parts && has_value(*word, "length_bytes", 0, INT64_MAX, &request.part.length))
            has_length = true;
        else if (!has_buffer || !has_value(*word, "buffer_bytes", 1, BUFFER_BYTES_MAX, &request.buffer_bytes))
            refuse("parameter", *word);
    if (has_start != has_length || (list_word && !is_list))
        refuse("target", words[3]);
    int error = is_list ? load_list(words[3]) : 0;
    if (error) {
        say_failed(words[3], strerror(error));
        exit(1);
    }
}

int main(int count, char **words)
{
    begin();
    const char *verb = count > 1 ? words[1] : "";
    bool is_read = strcmp(verb, "read") == 0 && count >= 6;
    if (!is_read && (count != 2 || (strcmp(verb, "hello") != 0 && strcmp(verb, "methods") != 0))) {
        fprintf(stderr, "usage: %s hello | methods | read METHOD SCAN WORK TARGET [name=value ...]\n", words[0]);
        return 2;
    }
    say_hello();
    for (enum method method = 0; strcmp(verb, "methods") == 0 && method < METHODS; method++)
        say_method(method);
    if (!is_read)
        return 0;
    parse(words + 2);
    say_ready();
    return serve();
}
