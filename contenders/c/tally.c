// The consumer of all methods that visit bytes: it counts the bytes and does the work.
#include "contender.h"

#include <string.h>

static uint64_t newlines_by_loop(const unsigned char *bytes, size_t length)
{
    uint64_t newlines = 0;
    for (size_t i = 0; i < length; i++)
        newlines += bytes[i] == '\n';
    return newlines;
}

static uint64_t newlines_by_memchr(const unsigned char *bytes, size_t length)
{
    const unsigned char *end = bytes + length;
    uint64_t newlines = 0;
    for (; bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes))); bytes++)
        newlines++;
    return newlines;
}

static uint8_t sum(const unsigned char *bytes, size_t length)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum;
}

void take(const struct request *request, const unsigned char *bytes, size_t length, struct answer *answer)
{
    answer->bytes += length;
    if (request->work == SUM)
        answer->sum = (uint8_t)(answer->sum + sum(bytes, length));
    else if (request->work == NEWLINES && strcmp(request->scan, "memchr") == 0)
        answer->newlines += newlines_by_memchr(bytes, length);
    else if (request->work == NEWLINES)
        answer->newlines += newlines_by_loop(bytes, length);
}
