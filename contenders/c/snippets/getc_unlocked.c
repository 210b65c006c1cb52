#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t buffer_bytes = 0; // = buffer_bytes

/* Counts newlines, one getc_unlocked a byte; -1 with errno on failure. No other thread may use the stream. A buffer of 0 bytes is
   the library's own. */
int64_t newlines(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char *buffer = buffer_bytes ? malloc(buffer_bytes) : NULL;
    if (buffer)
        setvbuf(file, buffer, _IOFBF, buffer_bytes);
    int64_t count = 0;
    int character;
    while ((character = getc_unlocked(file)) != EOF)
        count += character == '\n';
    int failed = ferror(file), cause = errno;
    fclose(file);
    free(buffer);
    errno = cause;
    return failed ? -1 : count;
}
