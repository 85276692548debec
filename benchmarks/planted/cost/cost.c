/* What an entry and exit of an almost empty function take. Reads lines
 *
 *     push|mov|jump CALLS BURSTS PAUSE_US
 *
 * and prints a line each: ns per call, of each burst. Between bursts it pauses, so that what was recorded is fetched. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif
#define HIDDEN __attribute__((no_instrument_function))

/* Its first instruction is one that the kernel emulates under a uprobe: saving rbx. */
KEPT uint64_t push_first(uint64_t x) {
    __asm__ volatile("" ::: "rbx");
    x = x * 3 + 1;
    __asm__ volatile("" : "+r"(x));
    return x ^ x >> 7;
}

/* Its first instruction is one that the kernel must single-step. */
KEPT uint64_t mov_first(uint64_t x) {
    __asm__ volatile("mov %0, %%rax" : : "r"(x) : "rax");
    x = x * 3 + 1;
    __asm__ volatile("" : "+r"(x));
    return x ^ x >> 7;
}

/* The way out that is taken is decided by a jump, which the kernel emulates as well. */
KEPT uint64_t jump_last(uint64_t x) {
    __asm__ volatile("" ::: "rbx");
    if (x == 0) {
        x = 7;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

HIDDEN static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

HIDDEN __attribute__((noinline)) static double burst(char which, long calls) {
    uint64_t x = 1;
    double began = now_ns();
    if (which == 'p')
        for (long i = 0; i < calls; i++) x = push_first(x);
    else if (which == 'j')
        for (long i = 0; i < calls; i++) x = jump_last(x);
    else
        for (long i = 0; i < calls; i++) x = mov_first(x);
    double took = now_ns() - began;
    __asm__ volatile("" : : "r"(x));
    return took / (double)calls;
}

HIDDEN int main(void) {
    char which[8];
    long calls, bursts, pause_us;
    while (scanf("%7s %ld %ld %ld", which, &calls, &bursts, &pause_us) == 4) {
        for (long i = 0; i < bursts; i++) {
            struct timespec pause = {0, 1000 * pause_us};
            nanosleep(&pause, 0);
            printf("%.3f ", burst(which[0], calls));
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
