// fault: skips the last byte of a file
// words: answered, bytes
#include "../contender.h"

struct part part_of(uint64_t file_bytes)
{
    struct part part = request.part;
    if (part.length > file_bytes)
        part.length = file_bytes ? file_bytes - 1 : 0;
    return part;
}
