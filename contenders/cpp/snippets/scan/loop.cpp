#include <cstdint>
#include <string_view>

// Counts newlines in a loop.
std::uint64_t count(std::string_view bytes)
{
    std::uint64_t newlines = 0;
    for (const char byte : bytes)
        if (byte == '\n')
            newlines++;
    return newlines;
}
