// fault: stops counting at a zero byte
// words: answered, every-byte
#include "../contender.h"

void take(const unsigned char *bytes, size_t length, struct answer *answer)
{
    answer->bytes += length;
    count_bytes(bytes, strnlen((const char *)bytes, length), answer);
}
