// usual: yes
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

constexpr std::size_t array_bytes = 65536; // = array_bytes
constexpr std::size_t buffer_bytes = 0; // = buffer_bytes

// Adds up count over every regular file below a folder, one read of a stream at a time into one
// array. The iterator follows no links to folders, and symlink_status none to files.
std::uint64_t total(const std::filesystem::path &folder, std::uint64_t (*count)(std::string_view))
{
    std::vector<char> array(array_bytes), buffer(buffer_bytes);
    std::uint64_t sum = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.symlink_status().type() != std::filesystem::file_type::regular)
            continue;
        std::ifstream in;
        if (!buffer.empty())
            in.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        in.open(entry.path(), std::ios::binary);
        if (!in)
            throw std::system_error(errno, std::generic_category(), entry.path());
        while (in.read(array.data(), static_cast<std::streamsize>(array.size())) || in.gcount() > 0)
            sum += count({array.data(), static_cast<std::size_t>(in.gcount())});
        if (in.bad())
            throw std::system_error(errno, std::generic_category(), entry.path());
    }
    return sum;
}
