// usual: yes
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

constexpr std::size_t buffer_bytes = 0; // = buffer_bytes

// Counts over the file's bytes in a string, which is a copy of what the stream has collected. A
// buffer of 0 bytes is the library's own.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    std::vector<char> buffer(buffer_bytes);
    std::ifstream in;
    if (!buffer.empty())
        in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    in.open(path, std::ios::binary);
    if (!in)
        throw std::system_error(errno, std::generic_category(), path);
    std::stringstream text;
    errno = 0;
    text << in.rdbuf();
    // An empty file makes it fail, too.
    if (text.fail() && errno != 0)
        throw std::system_error(errno, std::generic_category(), path);
    return count(text.str());
}
