// usual: yes
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t array_bytes = 65536; // = array_bytes

/* Adds up count over the file's bytes, one fread at a time into one array; -1 with errno on failure. */
int64_t total(const char *path, uint64_t (*count)(const unsigned char *, size_t))
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    unsigned char *array = malloc(array_bytes);
    int64_t sum = 0;
    size_t length;
    while (array && (length = fread(array, 1, array_bytes, file)) > 0)
        sum += (int64_t)count(array, length);
    int failed = !array || ferror(file), cause = errno;
    free(array);
    fclose(file);
    errno = cause;
    return failed ? -1 : sum;
}
