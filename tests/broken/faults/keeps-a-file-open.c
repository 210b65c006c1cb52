// fault: keeps a file open between turns
// words: open between turns
#include "../contender.h"

void close_file(int file)
{
    static int kept = -1;
    if (kept >= 0)
        close(kept);
    kept = file;
}
