// fault: accepts an unknown scan
// words: unknown scan
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "scan") == 0; }
