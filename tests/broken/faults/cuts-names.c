// fault: ends a name at its first byte that is not ASCII
// words: no such file
#define _GNU_SOURCE // strndupa
#include "../contender.h"

int open_file(const char *path)
{
    size_t length = 0;
    while ((signed char)path[length] > 0)
        length++;
    return open(strndupa(path, length), O_RDONLY | O_CLOEXEC);
}
