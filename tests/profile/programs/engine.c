/* An engine in a library, and a front that calls it and has no names: what a stripped server is. */

void txn(int number);

#ifdef FRONT

#include <unistd.h>

int main(void)
{
    for (int number = 0;; number++) {
        txn(number);
        usleep(3000);
    }
}

#else

static volatile long sum;

static inline __attribute__((always_inline)) void add(long most)
{
    for (long i = 0; i < most; i++)
        sum += i;
}

__attribute__((noipa)) void culprit(int number)
{
    add(number % 7 == 0 ? 4000000 : 200000);
}

__attribute__((noipa)) void step(int number)
{
    add(10000);
    culprit(number);
    add(10000);
}

void txn(int number)
{
    add(50000);
    step(number);
    add(50000);
}

#endif
