// fault: says that its reads asked for fewer bytes than the blocks have
// method: places
// words: asked for, the blocks have
#include "../contender.h"

void say_sample(const struct sample *sample)
{
    const struct answer *answer = &sample->answer;
    printf("{\"say\":\"sample\",\"wall_ns\":%" PRIu64 ",\"read_bytes\":0,\"bytes\":%" PRIu64, sample->wall_ns,
           answer->bytes);
    if (request.work == NEWLINES)
        printf(",\"newlines\":%" PRIu64, answer->newlines);
    if (request.work == SUM)
        printf(",\"sum\":%u", answer->sum);
    printf(",\"blocks\":%" PRIu64 ",\"products\":%" PRIu32 "}\n", answer->pieces, answer->products);
}
