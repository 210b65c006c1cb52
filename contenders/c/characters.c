// The methods of stdio that return one character at a time: getc, and getc_unlocked, which takes no
// lock.
#include "contender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int locked(FILE *file)
{
    return getc(file);
}

static int unlocked(FILE *file)
{
    return getc_unlocked(file);
}

// Inlined, so that the calls are those of a plain loop. The file position has the number of bytes.
static inline cause visit(FILE *file, int next(FILE *), enum work work, struct answer *answer)
{
    uint64_t newlines = 0;
    uint8_t sum = 0;
    int character;
    if (work == SUM)
        while ((character = next(file)) != EOF)
            sum = (uint8_t)(sum + character);
    else if (work == NEWLINES)
        while ((character = next(file)) != EOF)
            newlines += character == '\n';
    else
        while (next(file) != EOF)
            ;
    if (ferror(file))
        return strerror(errno);
    *answer = (struct answer){.bytes = (uint64_t)ftello(file), .newlines = newlines, .sum = sum};
    return NULL;
}

static inline cause read_by(int next(FILE *), const struct request *request, struct answer *answer)
{
    char *buffer;
    FILE *file = open_stream(request->path, request->values[0], &buffer);
    if (!file)
        return strerror(errno);
    cause failed = visit(file, next, request->work, answer);
    fclose(file);
    free(buffer);
    return failed;
}

cause read_by_getc(const struct request *request, struct answer *answer)
{
    return read_by(locked, request, answer);
}

cause read_by_getc_unlocked(const struct request *request, struct answer *answer)
{
    return read_by(unlocked, request, answer);
}
