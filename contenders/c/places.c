// Blocks at places of a file: the list of them, and the method that reads the block at each with
// pread(2). Threads take places in turn; the calling thread is one of them, so one thread means
// that none is started. After a failure no thread takes further places.
#include "contender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 8, BLOCK_BYTES_MAX = 1 << 30, BLOCKS_AT_FIRST = 4096 };
static const char not_complete[] = "a list of places is not complete, or its blocks are not of 1 byte to 1 GiB";

// The next number of a list, the lowest byte first; returns how many bytes of it are there.
static size_t next_number(FILE *list, uint64_t *number)
{
    unsigned char bytes[NUMBER_BYTES];
    size_t length = fread(bytes, 1, sizeof bytes, list);
    *number = 0;
    for (size_t i = length; i > 0; i--)
        *number = *number << 8 | bytes[i - 1];
    return length;
}

// Allocates memory for this number of blocks, and for their lengths if each block has its own.
static bool make_room(struct places *places, size_t room, bool has_lengths)
{
    uint64_t *offsets = realloc(places->offsets, room * sizeof *offsets);
    if (offsets)
        places->offsets = offsets;
    uint64_t *lengths = has_lengths ? realloc(places->lengths, room * sizeof *lengths) : NULL;
    if (lengths)
        places->lengths = lengths;
    return offsets && (lengths || !has_lengths);
}

// Loads the blocks. If the size of a block in the list is 0, each offset is followed by the length of
// its block.
static cause load_blocks(FILE *list, struct places *places)
{
    bool has_lengths = places->block_bytes == 0;
    uint64_t offset, length = places->block_bytes;
    size_t found, room = 0;
    while ((found = next_number(list, &offset)) == NUMBER_BYTES) {
        if (has_lengths && next_number(list, &length) != NUMBER_BYTES)
            return not_complete;
        if (length == 0 || length > BLOCK_BYTES_MAX)
            return not_complete;
        if (places->count == room) {
            room = room ? 2 * room : BLOCKS_AT_FIRST;
            if (!make_room(places, room, has_lengths))
                return strerror(errno);
        }
        if (has_lengths)
            places->lengths[places->count] = length;
        places->offsets[places->count++] = offset;
        if (length > places->block_bytes)
            places->block_bytes = length;
    }
    return found == 0 ? NULL : not_complete;
}

cause load_places(const char *path, struct places *places)
{
    FILE *list = fopen(path, "r");
    if (!list)
        return strerror(errno);
    size_t capacity = 0;
    ssize_t length = getdelim(&places->file, &capacity, '\0', list);
    // Where no zero byte ends the path, no number comes after it.
    bool has_blocks = length > 1 && next_number(list, &places->block_bytes) == NUMBER_BYTES &&
                      places->block_bytes <= BLOCK_BYTES_MAX;
    cause failed = has_blocks ? load_blocks(list, places) : not_complete;
    if (ferror(list))
        failed = strerror(errno);
    fclose(list);
    return failed;
}

void free_places(struct places *places)
{
    free(places->file);
    free(places->offsets);
    free(places->lengths);
}

static size_t size_of_block(const struct places *places, size_t number)
{
    return (size_t)(places->lengths ? places->lengths[number] : places->block_bytes);
}

// What the threads of a reading share.
struct turns {
    const struct request *request;
    int file;
    // The number of the place that is taken next.
    atomic_size_t next;
};

// That a file ends within a block, among numbers of errors.
enum { FILE_ENDS = -1 };

// One of the threads, what it has found, and the number of the error for which it ended early: of
// the read at an offset, if there is one.
struct worker {
    pthread_t thread;
    struct turns *turns;
    struct answer answer;
    int error;
    const uint64_t *offset;
};

// Reads one block; returns the number of an error, or 0.
static int read_block(int file, unsigned char *block, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t length = pread(file, block + done, size - done, (off_t)(offset + done));
        if (length == 0)
            return FILE_ENDS;
        if (length < 0 && errno != EINTR)
            return errno;
        done += length > 0 ? (size_t)length : 0;
    }
    return 0;
}

static void visit(const struct request *request, size_t number, const unsigned char *block, struct answer *all)
{
    struct answer one = {0};
    take(request, block, size_of_block(&request->places, number), &one);
    add_piece(request->work, number, &one, all);
}

static void *read_in_turn(void *argument)
{
    struct worker *worker = argument;
    const struct request *request = worker->turns->request;
    const struct places *places = &request->places;
    size_t number;
    // malloc(0) may return NULL, for a list without blocks.
    unsigned char *block = malloc(places->block_bytes ? (size_t)places->block_bytes : 1);
    int error = block ? 0 : errno;
    // Of its own until the end, apart from those of other threads.
    struct answer all = {0};
    while (!error && (number = atomic_fetch_add(&worker->turns->next, 1)) < places->count) {
        worker->offset = &places->offsets[number];
        error = read_block(worker->turns->file, block, size_of_block(places, number), *worker->offset);
        if (!error)
            visit(request, number, block, &all);
    }
    if (error)
        atomic_store(&worker->turns->next, places->count);
    free(block);
    worker->answer = all;
    worker->error = error;
    return NULL;
}

static cause failure_of(const struct worker *worker)
{
    static char reason[128];
    const char *why = worker->error == FILE_ENDS ? "the file ends within a block" : strerror(worker->error);
    if (!worker->offset)
        return why;
    snprintf(reason, sizeof reason, "%s at byte %" PRIu64, why, *worker->offset);
    return reason;
}

// Reads by this thread and further ones, and waits for them. If one cannot be started, no place is
// read any more.
static cause share(struct turns *turns, struct worker *workers, size_t count, struct answer *answer)
{
    size_t started = 1;
    int refused = 0;
    for (size_t i = 0; i < count; i++)
        workers[i].turns = turns;
    while (!refused && started < count) {
        refused = pthread_create(&workers[started].thread, NULL, read_in_turn, &workers[started]);
        started += !refused;
    }
    if (refused)
        atomic_store(&turns->next, turns->request->places.count);
    read_in_turn(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    cause failed = refused ? strerror(refused) : NULL;
    for (size_t i = 0; i < started; i++) {
        merge(&workers[i].answer, answer);
        if (workers[i].error && !failed)
            failed = failure_of(&workers[i]);
    }
    return failed;
}

cause read_places_by_pread(const struct request *request, struct answer *answer)
{
    const struct places *places = &request->places;
    int file = open(places->file, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return strerror(errno);
    struct turns turns = {.request = request, .file = file};
    uint64_t threads = request->values[0];
    size_t count = places->count == 0 ? 1 : places->count < threads ? places->count : (size_t)threads;
    struct worker *workers = calloc(count, sizeof *workers);
    cause failed = workers ? share(&turns, workers, count, answer) : strerror(errno);
    free(workers);
    close(file);
    return failed;
}
