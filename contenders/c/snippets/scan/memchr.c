#include <stdint.h>
#include <string.h>

/* Counts newlines by memchr, which the C library has in vector instructions. */
uint64_t count(const unsigned char *bytes, size_t length)
{
    const unsigned char *end = bytes + length;
    uint64_t newlines = 0;
    for (; bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes))); bytes++)
        newlines++;
    return newlines;
}
