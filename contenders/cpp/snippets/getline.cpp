// usual: yes
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

constexpr std::size_t buffer_bytes = 0; // = buffer_bytes

// Counts lines, each copied into one string. A buffer of 0 bytes is the library's own.
std::uint64_t lines(const std::string &path)
{
    std::vector<char> buffer(buffer_bytes);
    std::ifstream in;
    if (!buffer.empty())
        in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    in.open(path);
    if (!in)
        throw std::system_error(errno, std::generic_category(), path);
    std::uint64_t count = 0;
    for (std::string line; std::getline(in, line);)
        count++;
    if (in.bad())
        throw std::system_error(errno, std::generic_category(), path);
    return count;
}
