// usual: yes
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static const size_t buffer_bytes = 65536; // = buffer_bytes

/* Adds up count over the file's bytes, one read(2) at a time into one buffer; -1 with errno on failure. */
int64_t total(const char *path, uint64_t (*count)(const unsigned char *, size_t))
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    unsigned char *buffer = malloc(buffer_bytes);
    ssize_t length = -1;
    int64_t sum = 0;
    while (buffer && ((length = read(file, buffer, buffer_bytes)) > 0 || (length < 0 && errno == EINTR)))
        if (length > 0)
            sum += (int64_t)count(buffer, (size_t)length);
    int cause = errno;
    free(buffer);
    close(file);
    errno = cause;
    return length < 0 ? -1 : sum;
}
