// fault: begins every part at the start of the file
// words: answered, start_bytes
#include "../contender.h"

struct part part_of(uint64_t file_bytes) { return (struct part){0, request.part.length}; }
