// fault: is killed when it maps an empty file
// method: mmap
// words: killed by signal
#include "../contender.h"

#include <signal.h>

struct part part_of(uint64_t file_bytes)
{
    if (request.method == MMAP && file_bytes == 0)
        raise(SIGKILL);
    return request.part;
}
