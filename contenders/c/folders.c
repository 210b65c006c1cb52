// The methods that read every regular file below a folder with read(2): fts, and nftw. Neither
// follows links.
#define _GNU_SOURCE // nftw, and the types of fts
#include "contender.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<fts.h>)
#include <fts.h>
#endif

char failed_file[PATH_MAX];

static cause failed_at(const char *path, int number)
{
    strncpy(failed_file, path, sizeof failed_file - 1);
    return strerror(number);
}

static cause read_file(const struct request *request, const char *path, unsigned char *buffer, struct answer *all)
{
    struct answer answer = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return failed_at(path, errno);
    ssize_t length;
    while ((length = read(file, buffer, request->values[0])) > 0 || (length < 0 && errno == EINTR))
        if (length > 0)
            take(request, buffer, (size_t)length, &answer);
    cause failed = length < 0 ? failed_at(path, errno) : NULL;
    close(file);
    add_piece(request->work, answer.bytes, &answer, all);
    return failed;
}

#if __has_include(<fts.h>)
static cause visit_fts(FTS *tree, const struct request *request, unsigned char *buffer, struct answer *answer)
{
    FTSENT *entry;
    cause failed = NULL;
    while (!failed && (errno = 0, entry = fts_read(tree)))
        if (entry->fts_info == FTS_F)
            failed = read_file(request, entry->fts_accpath, buffer, answer);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            failed = failed_at(entry->fts_path, entry->fts_errno);
    return !failed && errno ? failed_at(request->path, errno) : failed;
}

cause read_by_fts(const struct request *request, struct answer *answer)
{
    char *const folders[] = {(char *)request->path, NULL};
    FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return strerror(errno);
    unsigned char *buffer = malloc(request->values[0]);
    cause failed = buffer ? visit_fts(tree, request, buffer, answer) : strerror(errno);
    free(buffer);
    fts_close(tree);
    return failed;
}
#else
cause read_by_fts(const struct request *request, struct answer *answer)
{
    (void)request, (void)answer;
    return FTS_UNAVAILABLE;
}
#endif

// A function that nftw calls has no argument of the caller's.
static struct {
    const struct request *request;
    struct answer *answer;
    unsigned char *buffer;
    cause failed;
} walk;

static int visit_nftw(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind == FTW_NS || kind == FTW_DNR)
        walk.failed = failed_at(path, kind == FTW_DNR ? EACCES : errno);
    else if (kind == FTW_F && S_ISREG(about->st_mode))
        walk.failed = read_file(walk.request, path, walk.buffer, walk.answer);
    return walk.failed != NULL;
}

cause read_by_nftw(const struct request *request, struct answer *answer)
{
    enum { OPEN_MAX_FOLDERS = 20 };
    unsigned char *buffer = malloc(request->values[0]);
    if (!buffer)
        return strerror(errno);
    walk.request = request;
    walk.answer = answer;
    walk.buffer = buffer;
    walk.failed = NULL;
    if (nftw(request->path, visit_nftw, OPEN_MAX_FOLDERS, FTW_PHYS) < 0)
        walk.failed = strerror(errno);
    free(buffer);
    return walk.failed;
}
