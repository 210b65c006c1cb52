// The consumer of all methods that visit bytes: it counts the bytes and does the work. Answers
// about several files or blocks are added up, each with its proof (PROTOCOL.md).
#include "contender.h"

#include <string.h>

// The numbers of a piece are taken modulo this in its proof.
enum { PROOF_MODULUS = 65521 };

static uint64_t newlines_by_loop(const unsigned char *bytes, size_t length)
{
    uint64_t newlines = 0;
    for (size_t i = 0; i < length; i++)
        newlines += bytes[i] == '\n';
    return newlines;
}

static uint64_t newlines_by_memchr(const unsigned char *bytes, size_t length)
{
    const unsigned char *end = bytes + length;
    uint64_t newlines = 0;
    for (; bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes))); bytes++)
        newlines++;
    return newlines;
}

static uint8_t sum(const unsigned char *bytes, size_t length)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum;
}

void take(const struct request *request, const unsigned char *bytes, size_t length, struct answer *answer)
{
    answer->bytes += length;
    if (request->work == SUM)
        answer->sum = (uint8_t)(answer->sum + sum(bytes, length));
    else if (request->work == NEWLINES && strcmp(request->scan, "memchr") == 0)
        answer->newlines += newlines_by_memchr(bytes, length);
    else if (request->work == NEWLINES)
        answer->newlines += newlines_by_loop(bytes, length);
}

void merge(const struct answer *some, struct answer *all)
{
    all->bytes += some->bytes;
    all->newlines += some->newlines;
    all->sum = (uint8_t)(all->sum + some->sum);
    all->pieces += some->pieces;
    all->products = (all->products + some->products) % ((uint64_t)1 << 32);
}

void add_piece(enum work work, uint64_t number, const struct answer *piece, struct answer *all)
{
    uint64_t value = work == NEWLINES ? piece->newlines : work == SUM ? piece->sum : piece->bytes;
    struct answer proven = *piece;
    proven.pieces = 1;
    proven.products = (number % PROOF_MODULUS + 1) * (value % PROOF_MODULUS + 1);
    merge(&proven, all);
}
