// fault: adds 1 to only one factor of each proof
// method: list
// words: products
#include "../contender.h"

uint32_t product(uint64_t number, uint64_t value) { return (uint32_t)(number % 65521 * (value % 65521 + 1)); }
