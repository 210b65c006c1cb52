// fault: reads the first file of a list in place of each other one
// method: list
// words: answered
#include "../contender.h"

const char *listed(size_t number) { return number < request.count ? request.paths[0] : NULL; }
