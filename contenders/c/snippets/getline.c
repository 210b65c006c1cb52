// usual: yes
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t buffer_bytes = 0; // = buffer_bytes

/* Counts lines, each copied into an array that grows; -1 with errno on failure. A buffer of 0 bytes is the library's own. */
int64_t lines(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char *buffer = buffer_bytes ? malloc(buffer_bytes) : NULL;
    if (buffer)
        setvbuf(file, buffer, _IOFBF, buffer_bytes);
    char *line = NULL;
    size_t capacity = 0;
    int64_t count = 0;
    while (getline(&line, &capacity, file) > 0)
        count++;
    int failed = !feof(file), cause = errno;
    free(line);
    fclose(file);
    free(buffer);
    errno = cause;
    return failed ? -1 : count;
}
