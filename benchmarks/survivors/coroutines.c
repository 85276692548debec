/* Four coroutines, their stacks side by side in one array. Each waits by letting the others run, within whichever
 * function has to wait; a transaction's time holds what it was suspended for. */
#include "survivor.h"

#include <ucontext.h>

enum { COROUTINES = 4 };
static char stacks[COROUTINES][32768] __attribute__((aligned(64)));
static ucontext_t scheduler, coroutines[COROUTINES];
static int running;

IN_PLACE void work_or_yield(struct txn *t, int f) {
    spin(20000);
    uint64_t until = now_ns() + extra_ns(t, f);
    do swapcontext(&coroutines[running], &scheduler);
    while (now_ns() < until);
}

STATEMENT(fetch, work_or_yield)

static void serve(int coroutine) {
    struct txn t = {.number = (uint64_t)(23 * coroutine)};
    for (;;) {
        CALL(&t, TRANSACTION, transaction(&t));
        finish(&t);
    }
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks[i];
        coroutines[i].uc_stack.ss_size = sizeof stacks[i];
        makecontext(&coroutines[i], (void (*)(void))serve, 1, i);
    }
    while (survivor_goes_on()) {
        for (running = 0; running < COROUTINES; running++) swapcontext(&scheduler, &coroutines[running]);
        sleep_ns(20000);
    }
    return survivor_end();
}
