#include <time.h>
#include <unistd.h>
#define F __attribute__((noipa))
static volatile unsigned sink;
static unsigned seed = 1;
static inline __attribute__((always_inline)) void burn(unsigned us) {
    struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
    long end = t.tv_sec * 1000000000L + t.tv_nsec + us * 1000L, now;
    do { clock_gettime(CLOCK_MONOTONIC, &t); now = t.tv_sec * 1000000000L + t.tv_nsec; } while (now < end);
    sink++;
}
static inline __attribute__((always_inline)) unsigned draw(void) { seed = seed * 1103515245 + 12345; return seed >> 16; }
