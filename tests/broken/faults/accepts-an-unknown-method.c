// fault: accepts an unknown method
// words: unknown method
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "method") == 0; }
