/* Calls the same function again and again, until its input ends. */
#include "begin.h"
#include <fcntl.h>
#include <unistd.h>

WATCHED long leaf(long x) { return x + 1; }

int main(void) {
    char byte;
    long sum = 0;
    begin();
    fcntl(0, F_SETFL, O_NONBLOCK);
    while (read(0, &byte, 1) != 0)
        for (int i = 0; i < 1000; i++) sum = leaf(sum);
    printf("%d\n", sum > 0);
    return 0;
}
