/* What a call costs: prints the median and the least of many batches' ns a call, of a leaf, of a chain of eight, and of one
   whose first instructions have a call among them: that one's return is predicted wrongly once it is patched. */
#include "begin.h"
#include <time.h>

enum { BATCHES = 60 };

WATCHED long leaf(long x) { return x + 1; }
#define LINK(name, next) WATCHED long name(long x) { return next(x * 3 + 7) + x; }
LINK(link8, leaf)
LINK(link7, link8)
LINK(link6, link7)
LINK(link5, link6)
LINK(link4, link5)
LINK(link3, link4)
LINK(link2, link3)

WATCHED long caller(long x) { return leaf(x) + 1; }

static long ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
static int order(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static void measure(const char *name, long (*function)(long), int calls, int deep) {
    double batches[BATCHES];
    long sum = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        /* Time for the reader, without the processor going to sleep. */
        for (long until = ns() + 25000000; ns() < until;) sum++;
        long begin = ns();
        for (int i = 0; i < calls; i++) sum = function(sum);
        batches[batch] = (double)(ns() - begin) / (calls * deep);
    }
    qsort(batches, BATCHES, sizeof *batches, order);
    printf("%s %.2f %.2f %d\n", name, batches[BATCHES / 2], batches[0], sum != 0);
}

int main(void) {
    begin();
    measure("leaf", leaf, 8000, 1);
    measure("chain", link2, 1000, 8);
    measure("caller", caller, 4000, 2);
    return 0;
}
