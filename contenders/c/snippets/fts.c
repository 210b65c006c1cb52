#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static const size_t buffer_bytes = 65536; // = buffer_bytes

/* Adds up count over one file; -1 on failure. */
static int64_t total_of(const char *path, unsigned char *buffer, uint64_t (*count)(const unsigned char *, size_t))
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length;
    int64_t sum = 0;
    while ((length = read(file, buffer, buffer_bytes)) > 0 || (length < 0 && errno == EINTR))
        if (length > 0)
            sum += (int64_t)count(buffer, (size_t)length);
    close(file);
    return length < 0 ? -1 : sum;
}

/* Adds up count over every regular file below a folder; -1 on failure. Links are not followed. */
int64_t total(const char *folder, uint64_t (*count)(const unsigned char *, size_t))
{
    char *const folders[] = {(char *)folder, NULL};
    unsigned char *buffer = malloc(buffer_bytes);
    FTS *tree = buffer ? fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    if (!tree) {
        free(buffer);
        return -1;
    }
    int64_t sum = 0, more = 0;
    FTSENT *entry;
    while (more >= 0 && (errno = 0, entry = fts_read(tree))) {
        switch (entry->fts_info) {
        case FTS_F: more = total_of(entry->fts_path, buffer, count); break;
        case FTS_DNR: case FTS_ERR: case FTS_NS: more = -1; break;
        default: more = 0;
        }
        sum += more;
    }
    int failed = more < 0 || errno != 0;
    fts_close(tree);
    free(buffer);
    return failed ? -1 : sum;
}
