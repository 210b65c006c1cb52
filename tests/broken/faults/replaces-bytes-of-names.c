// fault: replaces bytes of a name that are not UTF-8
// words: no such file
#define _GNU_SOURCE // mempcpy
#include "../contender.h"

int open_file(const char *path)
{
    char name[3 * strlen(path) + 1], *end = name;
    for (size_t length; *path; path += length ? length : 1) {
        length = sequence(path);
        end = length ? mempcpy(end, path, length) : stpcpy(end, "\uFFFD");
    }
    *end = '\0';
    return open(name, O_RDONLY | O_CLOEXEC);
}
