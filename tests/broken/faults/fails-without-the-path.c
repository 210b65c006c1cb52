// fault: fails without the path
// words: the path
#include "../contender.h"

void say_failed(const char *subject, const char *why)
{
    printf("{\"say\":\"failed\",\"reason\":\"%s\"}\n", why);
}
