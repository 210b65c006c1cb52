// usual: yes
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

constexpr std::size_t array_bytes = 65536; // = array_bytes
constexpr std::size_t buffer_bytes = 0; // = buffer_bytes

// Adds up count over the file's bytes, one read of the stream at a time into one array. A buffer of
// 0 bytes is the library's own; an array that is larger than the buffer is filled without it.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    std::vector<char> buffer(buffer_bytes);
    std::ifstream in;
    if (!buffer.empty())
        in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    in.open(path, std::ios::binary);
    if (!in)
        throw std::system_error(errno, std::generic_category(), path);
    std::vector<char> array(array_bytes);
    std::uint64_t sum = 0;
    while (in.read(array.data(), static_cast<std::streamsize>(array.size())) || in.gcount() > 0)
        sum += count({array.data(), static_cast<std::size_t>(in.gcount())});
    if (in.bad())
        throw std::system_error(errno, std::generic_category(), path);
    return sum;
}
