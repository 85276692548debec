#define _GNU_SOURCE
#include "begin.h"
#include <dlfcn.h>
#include <stdint.h>

WATCHED void state(int word, const char *text) { __asm__ volatile("" ::"r"(word), "r"(text)); }
WATCHED long site(long a, long b, long c) { return a + b + c; }
WATCHED long spin(long n) {
    volatile long sum = 0;
    for (long i = 0; i < n; i++) sum += i;
    return sum;
}

#ifndef NO_TEXT
#define NO_TEXT 16 /* and no string either */
#endif

int main(void) {
    begin();
    void (*mark)(uint32_t, uint64_t, const char *) = (void (*)(uint32_t, uint64_t, const char *))dlsym(RTLD_DEFAULT, "tare_agent_mark");
    state(3, "SELECT 1");
    state(2, 0);
    state(1, "SELECT 1");
    state(4, "COMMIT");
    state(5, (const char *)NO_TEXT);
    site(1, 0x123456789, 3);
    spin(20000000);
    mark(4, 0x123456789abcdef, 0);
    mark(7, 0x123456789abcdef, "order");
    mark(1, 5, 0); /* not a marker's kind */
    return 0;
}
