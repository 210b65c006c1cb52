// The methods that read many bytes at a time: read(2), fread, and a mapping.
#include "contender.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t least(uint64_t left, size_t size)
{
    return left < size ? (size_t)left : size;
}

cause read_by_read(const struct request *request, struct answer *answer)
{
    size_t size = request->values[0];
    uint64_t left = request->part.length;
    int file = open(request->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return strerror(errno);
    unsigned char *buffer = malloc(size);
    ssize_t length = request->part.start == 0 || lseek(file, (off_t)request->part.start, SEEK_SET) >= 0 ? 0 : -1;
    while (buffer && length >= 0 && left > 0 &&
           ((length = read(file, buffer, least(left, size))) > 0 || (length < 0 && errno == EINTR)))
        if (length > 0) {
            take(request, buffer, (size_t)length, answer);
            left -= (uint64_t)length;
        } else {
            length = 0;
        }
    cause failed = !buffer || length < 0 ? strerror(errno) : NULL;
    free(buffer);
    close(file);
    return failed;
}

cause read_by_fread(const struct request *request, struct answer *answer)
{
    size_t size = request->values[0];
    FILE *file = fopen(request->path, "r");
    if (!file)
        return strerror(errno);
    unsigned char *array = malloc(size);
    uint64_t left = request->part.length;
    bool found = request->part.start == 0 || fseeko(file, (off_t)request->part.start, SEEK_SET) == 0;
    size_t length;
    for (; array && found && (length = fread(array, 1, least(left, size), file)) > 0; left -= length)
        take(request, array, length, answer);
    cause failed = !array || !found || ferror(file) ? strerror(errno) : NULL;
    free(array);
    fclose(file);
    return failed;
}

// One byte of every page, so that each page is read; volatile, so that the compiler cannot leave it out.
static void touch(const volatile unsigned char *bytes, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < length; at += page)
        (void)bytes[at];
}

// Nothing cannot be mapped, and has no bytes to visit.
static cause visit_mapping(int file, uint64_t size, const struct request *request, struct answer *answer)
{
    uint64_t start = request->part.start;
    if (start >= size)
        return NULL;
    size_t length = least(request->part.length, (size_t)(size - start));
    if (length == 0)
        return NULL;
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, (off_t)start);
    if (bytes == MAP_FAILED)
        return strerror(errno);
    if (request->work == DISCARD)
        touch(bytes, length);
    take(request, bytes, length, answer);
    munmap(bytes, length);
    return NULL;
}

cause read_by_mmap(const struct request *request, struct answer *answer)
{
    int file = open(request->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return strerror(errno);
    // In fstat, a block device has no size.
    struct stat about;
    off_t size = lseek(file, 0, SEEK_END);
    cause failed = size < 0 || fstat(file, &about) < 0 ? strerror(errno)
                   : S_ISDIR(about.st_mode)            ? strerror(EISDIR)
                                                       : visit_mapping(file, (uint64_t)size, request, answer);
    close(file);
    return failed;
}
