/* A watched function calls memcpy and strlen of the C library, which are chosen as the program starts (IFUNC).
 * Variant `sizes`: the bytes copied vary, and memcpy is the culprit; else a function of the program waits. */
#define _GNU_SOURCE
#include "survivor.h"

static const char *const names[] = {"transaction", "parse", "copy_row", "memcpy", 0};
enum { PARSE = 1, COPY_ROW, MEMCPY, ROW = 16384, PART = 128 << 10, LARGEST = 64 << 20 };
static char *from, *to;
static size_t most;

KEPT void parse(struct txn *t) {
    work(t, PARSE);
    if (most) sleep_ns(200000);
    if (strlen(from) != 15) abort();
}

KEPT void copy_row(struct txn *t) {
    if (!most) work(t, COPY_ROW);
    size_t size = ROW + most * OF_CYCLE(LONG_NS, t->number) / 2000000;
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

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    if (is_variant("sizes")) most = LARGEST;
    from = repeated();
    to = repeated();
    memset(from, 'x', PART);
    from[15] = 0;
    RUN(transaction);
    return survivor_end();
}
