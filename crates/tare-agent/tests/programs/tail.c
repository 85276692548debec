#include "begin.h"

WATCHED int last(int x) { return x * 2; }
WATCHED int middle(int x) { return last(x + 1); }
WATCHED int first(int x) { return middle(x + 1); }
WATCHED int odd(int n);
WATCHED int even(int n) { return n == 0 ? 1 : odd(n - 1); }
WATCHED int odd(int n) { return n == 0 ? 0 : even(n - 1); }

int main(void) {
    begin();
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum += first(i);
    printf("%ld %d\n", sum, even(100));
    printf("%d\n", even(100000)); /* more tail calls than a thread keeps frames */
    return 0;
}
