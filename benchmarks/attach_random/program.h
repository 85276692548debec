/* Shared by random programs: types of arguments and results, and the rounds. PROGRAM [ROUNDS] runs so many rounds, or
 * until SIGTERM, and prints their number and a checksum of what they returned. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

struct pair {
    uint64_t a, b;
};
struct large {
    uint64_t v[5];
};

static struct pair pair_of(uint64_t a, uint64_t b) {
    struct pair p = {a, b};
    return p;
}

static struct large large_of(uint64_t a, uint64_t b) {
    struct large p = {{a, b, a ^ b, a + b, 5}};
    return p;
}

static uint64_t fold_pair(struct pair p) { return p.a * 7 + p.b; }
static uint64_t fold_large(struct large p) { return p.v[0] * 3 + p.v[1] + p.v[2] * 5 + p.v[3] + p.v[4]; }

static volatile int never;
static uint64_t dropped;

__attribute__((noreturn, noinline)) static void fail(uint64_t value) {
    fprintf(stderr, "%lu\n", (unsigned long)value);
    abort();
}

/* Takes as long at each level of optimization. */
static void burn(uint64_t iterations) { __asm__ volatile("1: dec %0; jnz 1b" : "+r"(iterations) : : "cc"); }

#ifdef __cplusplus
struct Failure {
    uint64_t value;
};
struct Shape {
    virtual uint64_t call(uint64_t a, uint64_t b) = 0;
};
struct Guard {
    uint64_t value;
    ~Guard();
};
NOINLINE Guard::~Guard() { dropped = dropped * 5 + value; }
#endif

NOINLINE uint64_t round_(uint64_t number);

static volatile sig_atomic_t ends;
static void end(int number) {
    (void)number;
    ends = 1;
}

int main(int argc, char **argv) {
    uint64_t rounds = argc > 1 ? strtoull(argv[1], 0, 10) : UINT64_MAX, done = 0, sum = 0;
    signal(SIGTERM, end);
    for (; done < rounds && !ends; done++) sum = sum * 31 + round_(done);
    printf("%lu %016lx\n", (unsigned long)done, (unsigned long)(sum ^ dropped));
    return 0;
}
