// The types that the parts of the C++ contender share: methods, requests and answers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The works, in the order of their words in messages.
enum class Work { newlines, lines, sum, discard };
constexpr std::array<std::string_view, 4> work_words{"newlines", "lines", "sum", "discard"};

// A setting of a method; the name carries its unit.
struct Param {
    std::string_view name;
    std::uint64_t preset, min, max;
};

// The bytes of a file that are read; without a request for a part, all.
struct Part {
    std::uint64_t start = 0;
    std::uint64_t length = std::numeric_limits<std::uint64_t>::max();
};

// A request for readings. A path is any bytes.
struct Request {
    std::string path;
    Part part;
    Work work;
    std::string scan;
    std::map<std::string_view, std::uint64_t> values;

    std::uint64_t value(std::string_view param) const { return values.at(param); }
};

// Proof of work: the answer of a reading. It has only the numbers that the method knows.
struct Answer {
    std::optional<std::uint64_t> bytes, newlines, lines;
    std::optional<std::uint8_t> sum;
    // Of several files: how many, and the proof of each (PROTOCOL.md).
    std::optional<std::uint64_t> files, products;
};

// A method: opens, reads the bytes, closes. All of that is the window, and no state is kept. It
// throws what prevents it from reading.
struct Method {
    std::string_view name;
    std::string_view about;
    // For each work the ways of visiting the bytes, best first; "-" if there is no choice.
    std::map<Work, std::vector<std::string_view>> scans;
    std::vector<Param> params;
    Answer (*read)(const Request &request);
    // Whether it reads a part of a file, too.
    bool parts = false;
    // Why it does not work with this program; empty if it does.
    std::string_view unavailable = {};
    // Whether it reads a folder instead of a file.
    bool folders = false;
};

// All methods, in the order of the list.
const std::vector<Method> &methods();

// The methods, by their files: streams.cpp, whole.cpp, lines.cpp, standard_input.cpp, arrays.cpp,
// mappings.cpp, folders.cpp.
Answer read_by_ifstream_read(const Request &request);
Answer read_by_ifstream_rdbuf(const Request &request);
Answer read_by_istreambuf_iterator(const Request &request);
Answer read_by_stringstream(const Request &request);
Answer read_by_string(const Request &request);
Answer read_by_getline(const Request &request);
Answer read_by_stdin_getline(const Request &request);
Answer read_by_fread(const Request &request);
Answer read_by_read(const Request &request);
Answer read_by_mmap(const Request &request);
Answer read_by_mapped_file_source(const Request &request);
Answer read_by_recursive_directory_iterator(const Request &request);

// The Boost that the program was built with, empty without Boost.Iostreams.
extern const std::string_view boost_version;

// request.cpp: the words of a command line.
std::optional<std::uint64_t> number(std::string_view digits);
const Method *parse(const std::vector<std::string_view> &words, Request &request);

// say.cpp: the messages, one line each.
void say_hello();
void say_method(const Method &method);
void say_ready(const Method &method, const Request &request);
void say_sample(std::uint64_t wall_ns, std::uint64_t cpu_user_ns, std::uint64_t cpu_system_ns, const Answer &answer);
void say_done(std::uint64_t count);
void say_unavailable(std::string_view reason);
void say_failed(std::string_view subject, std::string_view why);

// session.cpp: the turns of one session; returns the exit code.
int serve(const Method &method, const Request &request);
