// fault: takes no factor of a proof modulo 65521
// method: list
// words: products
#include "../contender.h"

uint32_t product(uint64_t number, uint64_t value) { return (uint32_t)((number + 1) * (value + 1)); }
