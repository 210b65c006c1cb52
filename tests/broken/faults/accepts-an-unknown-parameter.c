// fault: accepts an unknown parameter
// words: unknown parameter
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "parameter") == 0; }
