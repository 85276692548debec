#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define WATCHED __attribute__((noinline, used))
#else
#define WATCHED __attribute__((noinline, noipa, used))
#endif

/* Each program waits until the test has set its probes. */
static inline void begin(void) {
    if (getchar() != '\n') exit(9);
}
