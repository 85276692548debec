/* The parent forks three children, waits, and prints; all transactions are the children's. */
#include "survivor.h"

#include <sys/wait.h>

static const char *const names[] = {"transaction", "parse", "execute", "fetch", 0};
enum { PARSE = 1, EXECUTE, FETCH, CHILDREN = 3 };

KEPT void parse(struct txn *t) { work(t, PARSE); }
KEPT void fetch(struct txn *t) { work(t, FETCH); }

KEPT void execute(struct txn *t) {
    work(t, EXECUTE);
    CALL(t, FETCH, fetch(t));
    spin(2000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, EXECUTE, execute(t));
    spin(2000);
}

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
