#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

// Counts over the file's bytes in a string of the file's size.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw std::system_error(errno, std::generic_category(), path);
    std::string text(std::filesystem::file_size(path), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad())
        throw std::system_error(errno, std::generic_category(), path);
    return count({text.data(), static_cast<std::size_t>(in.gcount())});
}
