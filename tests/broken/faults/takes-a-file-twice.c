// fault: takes the first file of a list twice
// method: list
// words: answered, files
#include "../contender.h"

const char *listed(size_t number)
{
    bool is_end = number > request.count || request.count == 0;
    return is_end ? NULL : request.paths[number % request.count];
}
