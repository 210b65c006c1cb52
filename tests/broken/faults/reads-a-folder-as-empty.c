// fault: reads a folder as an empty file
// words: a folder instead of a file
#include "../contender.h"

int reading(struct answer *answer)
{
    int error = read_target(answer);
    return error == EISDIR ? 0 : error;
}
