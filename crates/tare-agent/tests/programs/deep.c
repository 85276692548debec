#include "begin.h"

WATCHED long down(long n) {
    volatile long here = n;
    return n == 0 ? 0 : down(n - 1) + (here == n);
}

int main(void) {
    begin();
    printf("%ld %ld\n", down(20000), down(10));
    return 0;
}
