// The consumer of the methods that make lines with std::getline.
#pragma once

#include "contender.hpp"

#include <istream>

// Makes all lines of a stream, one after the other in the same string. An unterminated last line
// counts.
Answer count_lines(std::istream &in);
