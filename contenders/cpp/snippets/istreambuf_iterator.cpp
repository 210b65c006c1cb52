// usual: yes
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

constexpr std::size_t buffer_bytes = 0; // = buffer_bytes

// Counts newlines, byte by byte in the stream's buffer. A buffer of 0 bytes is the library's own.
// An error while reading is an exception of the buffer.
std::uint64_t newlines(const std::string &path)
{
    std::vector<char> buffer(buffer_bytes);
    std::ifstream in;
    if (!buffer.empty())
        in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    in.open(path, std::ios::binary);
    if (!in)
        throw std::system_error(errno, std::generic_category(), path);
    const std::istreambuf_iterator<char> begin(in), end;
    return static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}
