// usual: yes
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t buffer_bytes = 65536; // = buffer_bytes
enum { FOLDERS_OPEN = 20 };

/* What nftw's function shares with its caller. */
static struct {
    uint64_t (*count)(const unsigned char *, size_t);
    unsigned char *buffer;
    int64_t sum;
} walk;

static int visit(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind == FTW_DNR || kind == FTW_NS)
        return -1;
    if (kind != FTW_F || !S_ISREG(about->st_mode))
        return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length;
    while ((length = read(file, walk.buffer, buffer_bytes)) > 0 || (length < 0 && errno == EINTR))
        if (length > 0)
            walk.sum += (int64_t)walk.count(walk.buffer, (size_t)length);
    close(file);
    return length < 0 ? -1 : 0;
}

/* Adds up count over every regular file below a folder; -1 on failure. Links are not followed. */
int64_t total(const char *folder, uint64_t (*count)(const unsigned char *, size_t))
{
    walk.count = count;
    walk.buffer = malloc(buffer_bytes);
    walk.sum = 0;
    int failed = !walk.buffer || nftw(folder, visit, FOLDERS_OPEN, FTW_PHYS) != 0;
    free(walk.buffer);
    return failed ? -1 : walk.sum;
}
