/* Each millisecond a signal comes, on a stack of its own; its handler calls a function that transactions call too.
 * Variants: the other stack lies `above` or `below` the thread's, as addresses go. */
#include "survivor.h"

#include <pthread.h>

enum { SIZE = 65536 };
static char below[SIZE], *above;

STATEMENT(checksum, work)

static void tick(int signal) {
    (void)signal;
    struct txn none = {.number = 0}; /* at which nothing waits */
    checksum(&none);
}

static void *serve(void *unused) {
    int is_above = is_variant("above");
    if (is_above != (above > (char *)__builtin_frame_address(0))) abort();
    stack_t other = {.ss_sp = is_above ? above : below, .ss_size = SIZE};
    sigset_t ticks;
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGUSR1);
    if (sigaltstack(&other, 0) || pthread_sigmask(SIG_UNBLOCK, &ticks, 0)) abort();
    RUN(transaction);
    return unused;
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, 1000000}, {0, 1000000}};
    timer_t timer;
    pthread_t thread;
    sigset_t ticks;
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGUSR1);
    if (sigaction(SIGUSR1, &action, 0) || pthread_sigmask(SIG_BLOCK, &ticks, 0)) abort();
    if (is_variant("above")) { /* mappings go downwards: before the thread's stack is above it */
        above = (char *)mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (above == MAP_FAILED) abort();
    }
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, 0) ||
        pthread_create(&thread, 0, serve, 0) || pthread_join(thread, 0))
        abort();
    return survivor_end();
}
