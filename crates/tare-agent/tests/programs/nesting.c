#include "begin.h"

WATCHED int inner(int x) { return x + 1; }
WATCHED int outer(int x) { return inner(x) + inner(x + 10); }

int main(void) {
    begin();
    printf("%d\n", outer(1));
    return 0;
}
