#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

constexpr std::size_t array_bytes = 65536; // = array_bytes

// Adds up count over the file's bytes, one fread at a time into one array.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    const auto close = [](std::FILE *file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "r"), close);
    if (!file)
        throw std::system_error(errno, std::generic_category(), path);
    std::vector<char> array(array_bytes);
    std::uint64_t sum = 0;
    while (const std::size_t length = std::fread(array.data(), 1, array.size(), file.get()))
        sum += count({array.data(), length});
    if (std::ferror(file.get()))
        throw std::system_error(errno, std::generic_category(), path);
    return sum;
}
