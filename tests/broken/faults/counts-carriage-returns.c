// fault: counts a carriage return as a newline
// words: answered, newlines, every-byte
#include "../contender.h"

void take(const unsigned char *bytes, size_t length, struct answer *answer)
{
    answer->bytes += length;
    count_bytes(bytes, length, answer);
    for (size_t i = 0; i < length; i++)
        answer->newlines += bytes[i] == '\r';
}
