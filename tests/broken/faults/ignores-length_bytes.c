// fault: reads every part to the end of the file
// words: answered, length_bytes
#include "../contender.h"

struct part part_of(uint64_t file_bytes) { return (struct part){request.part.start, UINT64_MAX}; }
