#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

constexpr std::size_t buffer_bytes = 65536; // = buffer_bytes

struct Descriptor {
    const int number;
    ~Descriptor() { close(number); }
};

// Adds up count over the file's bytes, one read(2) at a time into one buffer.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0)
        throw std::system_error(errno, std::generic_category(), path);
    std::vector<char> buffer(buffer_bytes);
    std::uint64_t sum = 0;
    ssize_t length;
    while ((length = read(file.number, buffer.data(), buffer.size())) > 0 || (length < 0 && errno == EINTR))
        if (length > 0)
            sum += count({buffer.data(), static_cast<std::size_t>(length)});
    if (length < 0)
        throw std::system_error(errno, std::generic_category(), path);
    return sum;
}
