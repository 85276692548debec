/* A watched function calls memcpy and strlen of the C library, which are chosen as the program starts (IFUNC).
 * Variant `sizes`: the bytes copied vary, and memcpy is the culprit; else a function of the program waits. The largest
 * copy takes as long as the longest wait does elsewhere, however fast this machine copies. */
#define _GNU_SOURCE
#include "survivor.h"

static const char *const names[] = {"transaction", "parse", "copy_row", "memcpy", 0};
enum { PARSE = 1, COPY_ROW, MEMCPY, ROW = 16384, PART = 128 << 10, LARGEST = 256 << 20, TRIAL = 16 << 20, TRIALS = 9 };
static const uint64_t LONGEST_NS = 2000000; /* of LONG_NS */
static char *from, *to;
static size_t most;

KEPT void parse(struct txn *t) {
    work(t, PARSE);
    if (most) sleep_ns(200000);
    if (strlen(from) != 15) abort();
}

KEPT void copy_row(struct txn *t) {
    if (!most) work(t, COPY_ROW);
    size_t size = ROW + most * OF_CYCLE(LONG_NS, t->number) / LONGEST_NS;
    CALL(t, MEMCPY, memcpy(to, from, size));
    __asm__ volatile("" ::"r"(to) : "memory");
    spin(2000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, COPY_ROW, copy_row(t));
    spin(2000);
}

/* The same few pages again and again, so that a copy takes the caches' time and not that of a memory which others use. */
static char *repeated(void) {
    int file = memfd_create("row", 0);
    char *area = mmap(0, PART + LARGEST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || ftruncate(file, PART) || area == MAP_FAILED) abort();
    for (size_t at = 0; at < PART + LARGEST; at += PART)
        if (mmap(area + at, PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) == MAP_FAILED)
            abort();
    return area;
}

/* Bytes that are copied in that time: the fastest of some trials, which others disturb. */
static size_t copied_in(uint64_t ns) {
    uint64_t fastest = UINT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t begin = now_ns();
        memcpy(to, from, TRIAL);
        __asm__ volatile("" ::"r"(to) : "memory");
        uint64_t took = now_ns() - begin;
        if (took < fastest) fastest = took;
    }
    double bytes = (double)TRIAL / (double)fastest * (double)ns;
    return bytes < LARGEST - ROW ? (size_t)bytes : LARGEST - ROW;
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    from = repeated();
    to = repeated();
    memset(from, 'x', PART);
    from[15] = 0;
    if (is_variant("sizes")) most = copied_in(LONGEST_NS);
    RUN(transaction);
    return survivor_end();
}
