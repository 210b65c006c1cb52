// fault: exits with 3 where a reading fails, and does not say why
// words: exited with 3
#include "../contender.h"

void say_failed(const char *subject, const char *why) { exit(3); }
