// fault: goes on after a malformed turn
// words: a turn spelled
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "turn") == 0; }
