// usual: yes
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t line_bytes = 4096; // = line_bytes
static const size_t buffer_bytes = 0; // = buffer_bytes

/* Counts newlines, each piece of a line copied into one array; -1 with errno on failure. A NUL byte hides the rest of its piece;
   a buffer of 0 bytes is the library's own. */
int64_t newlines(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char *buffer = buffer_bytes ? malloc(buffer_bytes) : NULL;
    if (buffer)
        setvbuf(file, buffer, _IOFBF, buffer_bytes);
    char *line = malloc(line_bytes);
    int64_t count = 0;
    while (line && fgets(line, (int)line_bytes, file)) {
        size_t length = strlen(line);
        count += length > 0 && line[length - 1] == '\n';
    }
    int failed = !line || ferror(file), cause = errno;
    free(line);
    fclose(file);
    free(buffer);
    errno = cause;
    return failed ? -1 : count;
}
