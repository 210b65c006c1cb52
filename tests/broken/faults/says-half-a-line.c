// fault: says half a line and exits
// words: closed its output
#include "../contender.h"

void say_sample(const struct sample *sample)
{
    printf("{\"say\":\"sample\",\"wall_ns\":12");
    exit(0);
}
