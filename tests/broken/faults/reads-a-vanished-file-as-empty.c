// fault: reads a file that has vanished as an empty one
// words: a file that vanished
#include "../contender.h"

int reading(struct answer *answer)
{
    int error = read_target(answer);
    return error == ENOENT ? 0 : error;
}
