// fault: fails without the cause
// words: no such file
#include "../contender.h"

void say_failed(const char *subject, const char *why)
{
    printf("{\"say\":\"failed\",\"reason\":\"");
    print_escaped(subject);
    puts("\"}");
}
