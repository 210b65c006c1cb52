// fault: answers after a pause that no window has
// method: read
// words: leave out
#include "../contender.h"

uint64_t window(uint64_t start_ns, uint64_t end_ns)
{
    if (request.method == READ && request.work == DISCARD)
        usleep(100000);
    return end_ns - start_ns;
}
