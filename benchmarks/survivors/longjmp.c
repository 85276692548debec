/* One of eleven transactions leaves two functions by longjmp; the transaction itself goes on. */
#include "survivor.h"

#include <setjmp.h>

static const char *const names[] = {"transaction", "parse", "execute", "fetch", 0};
enum { PARSE = 1, EXECUTE, FETCH };
static jmp_buf failed;

KEPT void parse(struct txn *t) { work(t, PARSE); }

KEPT void fetch(struct txn *t) {
    work(t, FETCH);
    if (t->number % 11 == 0) longjmp(failed, 1);
    spin(2000);
}

KEPT void execute(struct txn *t) {
    work(t, EXECUTE);
    CALL(t, FETCH, fetch(t));
    spin(2000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    if (!setjmp(failed))
        CALL(t, EXECUTE, execute(t));
    else
        land(t, PARSE);
    spin(2000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    RUN(transaction);
    return survivor_end();
}
