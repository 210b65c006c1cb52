// The messages of the protocol as lines of flat JSON.
#include "contender.h"

#include <inttypes.h>
#include <string.h>

// The compiler and its flags; build.sh passes the flags.
#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "cc"
#endif

// The length of the UTF-8 sequence at the start of a string, or 0 if there is none. Overlong forms and surrogates are
// not valid either.
static size_t sequence(const unsigned char *text)
{
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : text[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool wrong = length > 2 && ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
                                (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F));
    return wrong ? 0 : length;
}

// A string without its quotes; bytes that are not UTF-8 become U+FFFD.
static void print_escaped(const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    while (*text) {
        size_t length = sequence(text);
        if (length == 0)
            fputs("\xEF\xBF\xBD", stdout);
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if (*text < ' ')
            printf("\\u%04x", *text);
        else
            fwrite(text, 1, length, stdout);
        text += length ? length : 1;
    }
}

static void print_scans(const struct method *method)
{
    const char *comma = "";
    for (int work = 0; work < WORKS; work++) {
        if (!method->scans[work][0])
            continue;
        printf("%s\"%s\":[", comma, work_words[work]);
        for (int i = 0; i < SCANS_MAX && method->scans[work][i]; i++)
            printf("%s\"%s\"", i ? "," : "", method->scans[work][i]);
        putchar(']');
        comma = ",";
    }
}

void say_hello(void)
{
    printf("{\"say\":\"hello\",\"protocol\":1,\"contender\":\"c\",\"version\":\"0.1.0\",\"runtime\":\"");
    print_escaped(COMPILER ", " READLAB_FLAGS);
    puts("\"}");
    fflush(stdout);
}

void say_method(const struct method *method)
{
    printf("{\"say\":\"method\",\"method\":\"%s\",\"scans\":{", method->name);
    print_scans(method);
    printf("},\"params\":[");
    for (int i = 0; i < PARAMS_MAX && method->params[i].name; i++) {
        const struct param *param = &method->params[i];
        printf("%s{\"name\":\"%s\",\"default\":%" PRIu64 ",\"min\":%" PRIu64 ",\"max\":%" PRIu64 "}", i ? "," : "",
               param->name, param->preset, param->min, param->max);
    }
    printf("],\"about\":\"%s\",\"cache\":\"through\",\"reads\":\"%s\"%s", method->about,
           reads_words[method->reads].target, method->parts ? ",\"parts\":true" : "");
    if (method->unavailable)
        printf(",\"unavailable\":\"%s\"", method->unavailable);
    puts("}");
}

void say_ready(const struct method *method, const struct request *request)
{
    printf("{\"say\":\"ready\",\"params\":{");
    for (int i = 0; i < PARAMS_MAX && method->params[i].name; i++)
        printf("%s\"%s\":%" PRIu64, i ? "," : "", method->params[i].name, request->values[i]);
    puts("}}");
    fflush(stdout);
}

void say_sample(const struct method *method, const struct request *request, uint64_t wall_ns,
                const uint64_t cpu_ns[2], const struct answer *answer)
{
    printf("{\"say\":\"sample\",\"wall_ns\":%" PRIu64 ",\"cpu_user_ns\":%" PRIu64 ",\"cpu_system_ns\":%" PRIu64
           ",\"bytes\":%" PRIu64, wall_ns, cpu_ns[0], cpu_ns[1], answer->bytes);
    if (request->work == NEWLINES || request->work == LINES)
        printf(",\"newlines\":%" PRIu64, answer->newlines);
    if (method->scans[LINES][0])
        printf(",\"lines\":%" PRIu64, answer->lines);
    if (request->work == SUM)
        printf(",\"sum\":%u", answer->sum);
    const char *pieces = reads_words[method->reads].pieces;
    if (pieces)
        printf(",\"%s\":%" PRIu64 ",\"products\":%" PRIu64, pieces, answer->pieces, answer->products);
    puts("}");
}

void say_done(uint32_t count)
{
    printf("{\"say\":\"done\",\"count\":%" PRIu32 "}\n", count);
    fflush(stdout);
}

void say_unavailable(const char *reason)
{
    printf("{\"say\":\"unavailable\",\"reason\":\"%s\"}\n", reason);
    fflush(stdout);
}

void say_failed(const char *subject, const char *why)
{
    printf("{\"say\":\"failed\",\"reason\":\"");
    print_escaped(subject);
    printf(": ");
    print_escaped(why);
    puts("\"}");
    fflush(stdout);
}
