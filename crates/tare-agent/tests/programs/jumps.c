#include "begin.h"
#include <setjmp.h>

static jmp_buf back;

WATCHED int thrower(int x) {
    if (x % 3 == 0) longjmp(back, x + 1);
    return x;
}
WATCHED int between(int x) { return thrower(x) + 1; }
/* It calls setjmp itself, is watched, and returns after the jump. */
WATCHED int catcher(int x) {
    if (setjmp(back)) return -1;
    return between(x);
}

int main(void) {
    begin();
    long sum = 0;
    for (int i = 0; i < 3000; i++) sum += catcher(i);
    printf("%ld\n", sum);
    return 0;
}
