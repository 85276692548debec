/* The parent forks three children, waits, and prints; all transactions are the children's. */
#include "survivor.h"

#include <sys/wait.h>

enum { CHILDREN = 3 };

STATEMENT(fetch, work)

static void serve(uint64_t child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    struct txn t = {.number = 23 * child};
    while (!survivor_truth->stopping) {
        CALL(&t, TRANSACTION, transaction(&t));
        finish(&t);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    for (uint64_t child = 0; child < CHILDREN; child++)
        if (!fork()) serve(child);
    while (survivor_goes_on()) sleep_ns(EVERY_NS / 10);
    int status, lost = 0;
    for (int child = 0; child < CHILDREN; child++) lost += wait(&status) < 0 || status;
    return survivor_end() + lost;
}
