// A stream of stdio with a buffer of a size of its own.
#include "contender.h"

#include <errno.h>
#include <stdlib.h>

FILE *open_stream(const char *path, size_t buffer_bytes, char **buffer)
{
    *buffer = NULL;
    FILE *file = fopen(path, "r");
    if (!file || buffer_bytes == 0)
        return file;
    *buffer = malloc(buffer_bytes);
    if (*buffer && setvbuf(file, *buffer, _IOFBF, buffer_bytes) == 0)
        return file;
    fclose(file);
    free(*buffer);
    errno = ENOMEM;
    return NULL;
}
