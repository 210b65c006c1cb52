// fault: proves no work but the number of bytes
// words: sum
#include "../contender.h"

void say_sample(const struct sample *sample)
{
    printf("{\"say\":\"sample\",\"wall_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n", sample->wall_ns,
           sample->answer.bytes);
}
