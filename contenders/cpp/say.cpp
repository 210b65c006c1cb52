// The messages of the protocol as lines of flat JSON. They are written with stdio, so that
// std::cout is not used before a method may separate it from stdio.
#include "contender.hpp"

#include <cstdio>

// The compiler and its flags; build.sh passes the flags.
#if defined __clang__
constexpr std::string_view compiler = "clang " __clang_version__;
#elif defined __GNUC__
constexpr std::string_view compiler = "gcc " __VERSION__;
#else
constexpr std::string_view compiler = "c++";
#endif

static void write(const std::string &line)
{
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

// The length of the UTF-8 sequence at the start of a text that is not empty, or 0 if there is none.
// Overlong forms and surrogates are not valid either.
static std::size_t sequence(std::string_view text)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length > text.size())
        return 0;
    for (std::size_t i = 1; i < length; i++)
        if ((at(i) & 0xC0) != 0x80)
            return 0;
    const bool wrong = length > 2 && ((first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F) ||
                                      (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F));
    return wrong ? 0 : length;
}

// A JSON string; bytes that are not UTF-8 become U+FFFD.
static std::string quoted(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = sequence(text);
        const auto first = static_cast<unsigned char>(text[0]);
        if (length == 0)
            out += "\xEF\xBF\xBD";
        else if (first < ' ')
            out += std::string("\\u00") + digits[first >> 4] + digits[first & 15];
        else
            (out += first == '"' || first == '\\' ? "\\" : "") += text.substr(0, length);
        text.remove_prefix(length ? length : 1);
    }
    return out + '"';
}

static std::string field(std::string_view name, std::uint64_t value)
{
    return quoted(name) + ':' + std::to_string(value);
}

static std::string joined(const std::vector<std::string> &parts)
{
    std::string out;
    for (const std::string &part : parts)
        out += (out.empty() ? "" : ",") + part;
    return out;
}

static std::string scans(const Method &method)
{
    std::vector<std::string> works;
    for (const auto &[work, scans] : method.scans) {
        std::vector<std::string> names;
        for (const std::string_view scan : scans)
            names.push_back(quoted(scan));
        works.push_back(quoted(work_words[static_cast<std::size_t>(work)]) + ":[" + joined(names) + ']');
    }
    return joined(works);
}

void say_hello()
{
    std::string runtime = std::string(compiler) + ", " + READLAB_FLAGS;
    if (!boost_version.empty())
        runtime += ", Boost " + std::string(boost_version);
    write(R"({"say":"hello","protocol":1,"contender":"cpp","version":"0.1.0","runtime":)" + quoted(runtime) + '}');
    std::fflush(stdout);
}

void say_method(const Method &method)
{
    std::vector<std::string> params;
    for (const Param &param : method.params)
        params.push_back(R"({"name":)" + quoted(param.name) + ',' + field("default", param.preset) + ',' +
                         field("min", param.min) + ',' + field("max", param.max) + '}');
    std::string line = R"({"say":"method","method":)" + quoted(method.name) + R"(,"scans":{)" + scans(method) +
                       R"(},"params":[)" + joined(params) + R"(],"about":)" + quoted(method.about) +
                       R"(,"cache":"through")";
    if (method.parts)
        line += R"(,"parts":true)";
    if (method.folders)
        line += R"(,"reads":"folder")";
    if (!method.unavailable.empty())
        line += R"(,"unavailable":)" + quoted(method.unavailable);
    write(line + '}');
}

void say_ready(const Method &method, const Request &request)
{
    std::vector<std::string> params;
    for (const Param &param : method.params)
        params.push_back(field(param.name, request.value(param.name)));
    write(R"({"say":"ready","params":{)" + joined(params) + "}}");
    std::fflush(stdout);
}

void say_sample(std::uint64_t wall_ns, std::uint64_t cpu_user_ns, std::uint64_t cpu_system_ns, const Answer &answer)
{
    std::vector<std::string> fields{field("wall_ns", wall_ns), field("cpu_user_ns", cpu_user_ns),
                                    field("cpu_system_ns", cpu_system_ns)};
    if (answer.bytes)
        fields.push_back(field("bytes", *answer.bytes));
    if (answer.newlines)
        fields.push_back(field("newlines", *answer.newlines));
    if (answer.lines)
        fields.push_back(field("lines", *answer.lines));
    if (answer.sum)
        fields.push_back(field("sum", *answer.sum));
    if (answer.files)
        fields.push_back(field("files", *answer.files));
    if (answer.products)
        fields.push_back(field("products", *answer.products));
    write(R"({"say":"sample",)" + joined(fields) + '}');
}

void say_done(std::uint64_t count)
{
    write(R"({"say":"done",)" + field("count", count) + '}');
    std::fflush(stdout);
}

void say_unavailable(std::string_view reason)
{
    write(R"({"say":"unavailable","reason":)" + quoted(reason) + '}');
    std::fflush(stdout);
}

void say_failed(std::string_view subject, std::string_view why)
{
    write(R"({"say":"failed","reason":)" + quoted(std::string(subject) + ": " + std::string(why)) + '}');
    std::fflush(stdout);
}
