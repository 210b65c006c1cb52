// fault: reads no block longer than the first
// method: places
// words: answered
#include "../contender.h"

uint64_t length_of(size_t number)
{
    if (!request.lengths)
        return request.block_bytes;
    return request.lengths[number] < request.lengths[0] ? request.lengths[number] : request.lengths[0];
}
