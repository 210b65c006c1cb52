// needs: the library Boost.Iostreams
#include <boost/iostreams/device/mapped_file.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

// Counts over the file's bytes where they are mapped. A file that others cut off meanwhile ends the
// process with SIGBUS.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    if (std::filesystem::file_size(path) == 0) // An empty file cannot be mapped.
        return 0;
    const boost::iostreams::mapped_file_source file(path);
    return count({file.data(), file.size()});
}
