// fault: reads only once and answers from memory
// words: answered
#include "../contender.h"

int reading(struct answer *answer)
{
    static struct answer first;
    int error = first.pieces ? 0 : read_target(&first);
    *answer = first;
    return error;
}
