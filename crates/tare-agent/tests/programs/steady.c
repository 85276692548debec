#include "begin.h"
#include <time.h>

WATCHED long leaf(long x) { return x + 1; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    begin();
    double until = now() + (argc > 1 ? atof(argv[1]) : 4);
    long sum = 0;
    while (now() < until)
        for (int i = 0; i < 1000; i++) sum = leaf(sum);
    printf("%d\n", sum > 0);
    return 0;
}
