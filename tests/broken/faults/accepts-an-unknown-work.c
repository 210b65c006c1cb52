// fault: accepts an unknown work, as discard
// words: unknown work
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "work") == 0; }
