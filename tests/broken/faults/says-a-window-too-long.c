// fault: says a window that is a second longer than the reading
// words: inside a turn
#include "../contender.h"

uint64_t window(uint64_t start_ns, uint64_t end_ns) { return end_ns - start_ns + 1000000000; }
