// fault: reads the block around an offset that is no multiple of the block
// method: places
// words: answered
#include "../contender.h"

uint64_t offset_of(size_t number) { return request.offsets[number] / request.block_bytes * request.block_bytes; }
