#include <stddef.h>
#include <stdint.h>

/* Counts newlines in a loop that compilers make into vector instructions when told to optimise. */
uint64_t count(const unsigned char *bytes, size_t length)
{
    uint64_t newlines = 0;
    for (size_t i = 0; i < length; i++)
        newlines += bytes[i] == '\n';
    return newlines;
}
