// fault: says a field that is not in the protocol
// words: speed
#include "../contender.h"

void say_done(uint32_t count)
{
    printf("{\"say\":\"done\",\"count\":%" PRIu32 ",\"speed\":1}\n", count);
    fflush(stdout);
}
