// What prevents a reading: exceptions, and the cause in one line that a session reports.
#include "failure.hpp"

#include <cerrno>
#include <new>
#include <system_error>

void throw_errno()
{
    throw std::system_error(errno, std::generic_category());
}

void throw_if_failed(const std::ios &stream)
{
    if (errno != 0)
        throw_errno();
    if (stream.bad())
        throw std::runtime_error("the stream failed and says no cause");
}

std::string cause_of(const std::exception &error)
{
    const auto *coded = dynamic_cast<const std::system_error *>(&error);
    if (coded && coded->code().category() != std::iostream_category())
        return coded->code().message();
    if (dynamic_cast<const std::bad_alloc *>(&error))
        return "not enough memory";
    return error.what();
}
