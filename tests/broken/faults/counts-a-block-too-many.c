// fault: counts a block too many
// method: places
// words: answered, blocks
#include "../contender.h"

int reading(struct answer *answer)
{
    int error = read_target(answer);
    answer->pieces += request.method == PLACES;
    return error;
}
