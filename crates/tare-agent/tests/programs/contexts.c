#include "begin.h"
#include <ucontext.h>

static ucontext_t home, other;
static char stack[1 << 16];
static long sum;

WATCHED void change(int there) {
    sum++;
    if (there)
        swapcontext(&home, &other);
    else
        swapcontext(&other, &home);
}
WATCHED void step(int there) { change(there); }
static void coroutine(void) {
    for (;;) step(0);
}

int main(void) {
    begin();
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    makecontext(&other, coroutine, 0);
    for (int i = 0; i < 1000; i++) step(1);
    printf("%ld\n", sum);
    return 0;
}
