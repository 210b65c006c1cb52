// fault: goes on after a malformed turn
// words: malformed turn
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "turn") == 0; }
