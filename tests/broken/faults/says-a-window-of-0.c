// fault: says a window of 0 ns
// words: 0 ns
#include "../contender.h"

uint64_t window(uint64_t start_ns, uint64_t end_ns) { return 0; }
