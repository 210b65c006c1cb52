// fault: reads only the first 65536 bytes
// words: answered, 65536 bytes
#include "../contender.h"

struct part part_of(uint64_t file_bytes)
{
    struct part part = request.part;
    part.length = part.length < 65536 ? part.length : 65536;
    return part;
}
