/* Functions that begin with an instruction of vectors, which the kernel takes for another one under a probe: one of the
 * program, and memset and strlen of the C library. Each result is checked, and a wrong one ends the program. */
#define _GNU_SOURCE
#include "survivor.h"

static const char *const names[] = {"transaction", "parse", "clear_row", 0};
enum { PARSE = 1, CLEAR_ROW, ROW = 512 };
static char row[ROW + 1];
static volatile size_t size = ROW;
static int has_vectors;

__attribute__((naked, noipa)) static int64_t bits(double x) {
    (void)x;
    __asm__("vmovq %xmm0, %rax\n\tret");
}

KEPT void parse(struct txn *t) {
    work(t, PARSE);
    if (has_vectors && bits(1.5) != 0x3ff8000000000000) abort();
}

KEPT void clear_row(struct txn *t) {
    work(t, CLEAR_ROW);
    char filler = 'a' + t->number % 26;
    memset(row, filler, size);
    for (int byte = 0; byte < ROW; byte++)
        if (row[byte] != filler) abort();
    if (strlen(row) != ROW) abort();
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, CLEAR_ROW, clear_row(t));
    spin(2000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    has_vectors = __builtin_cpu_supports("avx");
    RUN(transaction);
    return survivor_end();
}
