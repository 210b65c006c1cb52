// fault: says a sample too few
// words: asked for 2 samples
#include "../contender.h"

int turn(uint32_t lead, uint32_t timed_readings) { return take_turn(lead, timed_readings - 1); }
