// fault: says that it is done with one more than it read
// words: asked for 2 samples
#include "../contender.h"

void say_done(uint32_t count)
{
    printf("{\"say\":\"done\",\"count\":%" PRIu32 "}\n", count + 1);
    fflush(stdout);
}
