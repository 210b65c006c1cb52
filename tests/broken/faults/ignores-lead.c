// fault: makes no untimed readings
// words: untimed
#include "../contender.h"

int turn(uint32_t lead, uint32_t timed_readings) { return take_turn(0, timed_readings); }
