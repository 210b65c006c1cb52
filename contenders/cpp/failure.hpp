// What prevents a reading: exceptions, and the cause in one line that a session reports.
#pragma once

#include <exception>
#include <ios>
#include <stdexcept>
#include <string>

// A method that does not work on this target.
struct Unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One of several files was not read.
struct FileFailure : std::runtime_error {
    const std::string path;

    FileFailure(const std::string &path, const std::string &cause) : std::runtime_error(cause), path(path) {}
};

// Throws the cause that errno has.
[[noreturn]] void throw_errno();

// Throws if a stream's bytes ended by an error. A stream of libstdc++ is bad then. One of libc++
// looks like one at the end of its file, so errno, which is 0 when the reading starts, decides as
// well.
void throw_if_failed(const std::ios &stream);

// The cause of a failed reading, without the path.
std::string cause_of(const std::exception &error);
