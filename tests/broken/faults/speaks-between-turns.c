// fault: says twice that it is done
// words: asked for 2 samples
#include "../contender.h"

void say_done(uint32_t count)
{
    for (int i = 0; i < 2; i++)
        printf("{\"say\":\"done\",\"count\":%" PRIu32 "}\n", count);
    fflush(stdout);
}
