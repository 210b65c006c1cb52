// usual: yes
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <system_error>

constexpr bool synced = true; // = synced

// Counts lines of standard input, each copied into one string. If it is not synced, stdio may not
// read it, too.
std::uint64_t lines()
{
    std::ios::sync_with_stdio(synced);
    std::uint64_t count = 0;
    for (std::string line; std::getline(std::cin, line);)
        count++;
    if (std::cin.bad() || std::ferror(stdin))
        throw std::system_error(errno, std::generic_category(), "standard input");
    return count;
}
