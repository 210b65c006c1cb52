// fault: keeps a file mapped between turns
// method: mmap
// words: mapped between turns
#include "../contender.h"

void unmap(void *bytes, size_t length)
{
    static void *kept;
    static size_t kept_length;
    if (kept)
        munmap(kept, kept_length);
    kept = bytes;
    kept_length = length;
}
