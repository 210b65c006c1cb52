// usual: yes
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static const size_t block_bytes = 4096;
static const int threads = 1; // = threads

/* What threads share: they take the next place until none is left. */
struct blocks {
    int file;
    const uint64_t *offsets;
    size_t places;
    uint64_t (*count)(const unsigned char *, size_t);
    atomic_size_t next;
    _Atomic int64_t sum;
    atomic_int failed;
};

/* Counts single blocks with pread(2), into a buffer of the thread. */
static void *count_blocks(void *argument)
{
    struct blocks *blocks = argument;
    unsigned char *block = malloc(block_bytes);
    int failed = block ? 0 : errno;
    size_t number;
    while (!failed && (number = atomic_fetch_add(&blocks->next, 1)) < blocks->places) {
        ssize_t length = pread(blocks->file, block, block_bytes, (off_t)blocks->offsets[number]);
        if (length == (ssize_t)block_bytes)
            blocks->sum += (int64_t)blocks->count(block, block_bytes);
        else
            failed = length < 0 ? errno : EIO; /* The file ends within the block. */
    }
    if (failed)
        blocks->failed = failed;
    free(block);
    return NULL;
}

/* Adds up count over the blocks at these offsets, in any order; -1 with errno on failure. */
int64_t total(const char *path, const uint64_t *offsets, size_t places, uint64_t (*count)(const unsigned char *, size_t))
{
    struct blocks blocks = {.offsets = offsets, .places = places, .count = count};
    blocks.file = open(path, O_RDONLY | O_CLOEXEC);
    if (blocks.file < 0)
        return -1;
    pthread_t others[threads];
    int started = 1; /* This one reads, too. */
    while (started < threads && pthread_create(&others[started], NULL, count_blocks, &blocks) == 0)
        started++;
    count_blocks(&blocks);
    for (int i = 1; i < started; i++)
        pthread_join(others[i], NULL);
    close(blocks.file);
    errno = blocks.failed;
    return blocks.failed ? -1 : blocks.sum;
}
