// fault: reads a folder as an empty file
// words: directory
#include "../contender.h"

int reading(struct answer *answer)
{
    int error = read_target(answer);
    return error == EISDIR ? 0 : error;
}
