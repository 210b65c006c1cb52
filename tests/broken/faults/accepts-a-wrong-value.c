// fault: accepts a value of a parameter that is no number, or beyond its bounds
// words: buffer_bytes
#include "../contender.h"

bool accepts(const char *misuse) { return strcmp(misuse, "value") == 0; }
