// All methods, in the order of the list.
#include "contender.hpp"

using Scans = std::map<Work, std::vector<std::string_view>>;

constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30;
// The buffer of a stream; 0 leaves its size to the library.
constexpr Param stream_buffer{"buffer_bytes", 0, 0, bytes_max};
constexpr Param array{"array_bytes", 65536, 1, bytes_max};

const std::vector<Method> &methods()
{
    static const Scans of_bytes{
        {Work::newlines, {"memchr", "count", "loop"}}, {Work::sum, {"loop"}}, {Work::discard, {"-"}}};
    static const Scans of_iterators{{Work::newlines, {"-"}}, {Work::sum, {"-"}}};
    static const Scans of_lines{{Work::newlines, {"-"}}, {Work::lines, {"-"}}};
    static const std::string_view without_boost =
        boost_version.empty() ? "it was built without Boost.Iostreams; Debian has it in libboost-iostreams-dev" : "";
    static const std::vector<Method> list{
        {"getline", "std::getline from a std::ifstream, into one std::string", of_lines, {stream_buffer},
         read_by_getline},
        {"stdin.getline", "std::getline from std::cin, with the file as standard input; synced=0: without stdio",
         of_lines, {{"synced", 1, 0, 1}}, read_by_stdin_getline},
        {"ifstream.read", "std::ifstream::read in a loop; so large an array is filled without the stream's own buffer",
         of_bytes, {array, stream_buffer}, read_by_ifstream_read},
        {"ifstream.rdbuf", "sgetn of the std::ifstream's buffer in a loop", of_bytes, {array, stream_buffer},
         read_by_ifstream_rdbuf},
        {"istreambuf_iterator", "std::count and std::accumulate over iterators of the std::ifstream's buffer",
         of_iterators, {stream_buffer}, read_by_istreambuf_iterator},
        {"stringstream", "a std::stringstream takes the whole file, and makes a std::string of it", of_bytes,
         {stream_buffer}, read_by_stringstream},
        {"string", "one std::ifstream::read into a std::string of the file's size", of_bytes, {}, read_by_string},
        {"fread", "std::fread in a loop into one array", of_bytes, {array}, read_by_fread, true},
        {"read", "read(2) in a loop into one std::vector", of_bytes, {{"buffer_bytes", 65536, 1, bytes_max}},
         read_by_read, true},
        {"mmap", "the whole file mapped by mmap(2)", of_bytes, {}, read_by_mmap, true},
        {"mapped_file_source", "the whole file mapped by boost::iostreams::mapped_file_source", of_bytes, {},
         read_by_mapped_file_source, false, without_boost},
        {"recursive_directory_iterator",
         "std::filesystem::recursive_directory_iterator, and std::ifstream::read of each regular file", of_bytes,
         {array, stream_buffer}, read_by_recursive_directory_iterator, false, {}, true},
    };
    return list;
}
