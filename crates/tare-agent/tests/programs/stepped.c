#include "begin.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { RING = 65536, THREADS = 48, STEPPED = 5 };

static volatile long calls, handled;

WATCHED long leaf(long x) {
    calls++;
    return x + 1;
}
WATCHED void handler_part(void) { handled++; }
static void handler(int signal) {
    (void)signal;
    handler_part();
}

/* With the trap flag the processor stops after each instruction, and the handler runs. */
static void step(int on) {
    if (on) __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

/* Its ring has room for a few records when it is stepped, each time for eight more. */
static void *work(void *number) {
    for (long call = RING / 2 - 60 - 4 * (long)number; call; call--) leaf(call);
    for (long call = 0; call < STEPPED; call++) {
        step(1);
        long got = leaf(call);
        step(0);
        if (got != call + 1) abort();
    }
    return 0;
}

int main(void) {
    begin();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGTRAP, &action, 0);
    for (long number = 0; number < THREADS; number++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, work, (void *)number) || pthread_join(thread, 0)) abort();
    }
    printf("%ld\n", calls + handled);
    return 0;
}
