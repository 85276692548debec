/* Syscall User Dispatch: during a transaction a system call from outside the program's own code raises SIGSYS, and that
 * aborts. */
#include "survivor.h"

#include <sys/prctl.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

enum { ALLOW = 0, BLOCK = 1, NOT_HERE = 77 };
extern const char __executable_start[], etext[];
static volatile char selector = ALLOW;
static volatile int is_trial;

STATEMENT(fetch, work)

static void refuse(const char *why, int code) {
    if (write(2, why, strlen(why)) < 0) abort();
    if (code) _exit(code);
    abort();
}

static void dispatched(int signal) {
    (void)signal;
    selector = ALLOW;
    if (is_trial) refuse("this machine's clock needs a system call\n", NOT_HERE);
    refuse("a system call came from outside the program\n", 0);
}

static void stop(int signal) {
    selector = ALLOW; /* the return from here is a system call of the C library */
    survivor_stop(signal);
}

static inline void guarded(struct txn *t) {
    selector = BLOCK;
    transaction(t);
    selector = ALLOW;
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    struct sigaction calls = {.sa_handler = dispatched}, stops = {.sa_handler = stop};
    if (sigaction(SIGSYS, &calls, 0) || sigaction(SIGTERM, &stops, 0)) abort();
    unsigned long begin = (unsigned long)__executable_start, length = (unsigned long)(etext - __executable_start);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, begin, length, &selector))
        refuse("this kernel has no Syscall User Dispatch, which Linux has since 5.11 on x86-64\n", NOT_HERE);
    is_trial = 1;
    selector = BLOCK;
    now_ns();
    selector = ALLOW;
    is_trial = 0;
    RUN(guarded);
    return survivor_end();
}
