#include "begin.h"
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile long handled;
static sigjmp_buf back;
static volatile int may_jump;
static volatile long jumped;

WATCHED long leaf(long x) { return x + 1; }
WATCHED long stem(long x) { return leaf(x) + leaf(x); }
WATCHED void handler_part(int x) { handled += leaf(x) == x + 1; }
WATCHED void handler(int signal) {
    handler_part(signal);
    if (may_jump && handled % 10 == 0) {
        jumped++;
        siglongjmp(back, 1);
    }
}

static void run(int flags, int jump) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGALRM, &action, 0);
    long until = handled + 300;
    may_jump = 0;
    struct itimerval timer = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &timer, 0);
    sigsetjmp(back, 1);
    may_jump = jump;
    volatile long i;
    for (i = 0; handled < until; i++) {
        if (stem(i) != 2 * i + 2) abort();
        for (volatile int pause = 0; pause < 1000; pause++) /* so that the reader keeps up */
            ;
    }
    may_jump = 0;
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, 0);
}

int main(void) {
    begin();
    run(0, 0);
    run(0, 1);
    /* A stack for handlers above the thread's own is not to be had; below and apart both look alike to the agent. */
    stack_t stack = {.ss_sp = mmap(0, 1 << 16, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    run(SA_ONSTACK, 0);
    run(SA_ONSTACK, 1);
    printf("%d %d\n", handled >= 1200, jumped > 0);
    return 0;
}
