// The consumer of all methods that visit bytes: it counts the bytes and does the work.
#pragma once

#include "contender.hpp"

class Tally {
    const Work work;
    std::uint64_t (*const count)(std::string_view bytes);
    std::uint64_t bytes = 0, newlines = 0;
    std::uint8_t sum = 0;

public:
    explicit Tally(const Request &request);

    void take(std::string_view more);
    Answer answer() const;
};
