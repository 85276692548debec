/* A timer's signal interrupts transactions 100 times a second; its handler calls a function that is watched. Transactions
 * call often, so that the signal comes upon the agent itself now and then. */
#include "survivor.h"

#include <sys/time.h>

static const char *const names[] = {"transaction", "parse", "execute", "step", 0};
enum { PARSE = 1, EXECUTE, STEP };

KEPT void parse(struct txn *t) { work(t, PARSE); }

KEPT unsigned step(unsigned n) {
    spin(n & 7);
    return n + 1;
}

KEPT void execute(struct txn *t) {
    for (unsigned n = 0; n < 400;) n = step(n);
    work(t, EXECUTE);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, EXECUTE, execute(t));
}

KEPT void account(void) { spin(200000); }

KEPT void tick(int signal) {
    (void)signal;
    account();
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval period = {{0, 10000}, {0, 10000}};
    if (sigaction(SIGALRM, &action, 0) || setitimer(ITIMER_REAL, &period, 0)) abort();
    RUN(transaction);
    return survivor_end();
}
