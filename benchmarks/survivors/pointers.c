/* The culprit is two calls below a call through a table of functions. */
#include "survivor.h"

static const char *const names[] = {"transaction", "level1", "level2", "prepare", "culprit", 0};
enum { LEVEL1 = 1, LEVEL2, PREPARE, CULPRIT };

KEPT void culprit(struct txn *t) { work(t, CULPRIT); }
KEPT void prepare(struct txn *t) { work(t, PREPARE); }

#define LEVEL3(name, rounds)                                                                                           \
    KEPT void name(struct txn *t) {                                                                                    \
        spin(rounds);                                                                                                  \
        CALL(t, CULPRIT, culprit(t));                                                                                  \
        spin(rounds);                                                                                                  \
    }
LEVEL3(level3_a, 4000)
LEVEL3(level3_b, 6000)
LEVEL3(level3_c, 8000)
LEVEL3(level3_d, 10000)

static void (*volatile const table[])(struct txn *) = {level3_a, level3_b, level3_c, level3_d};

KEPT void level2(struct txn *t) {
    work(t, LEVEL2);
    table[t->number % 4](t);
    spin(3000);
}

KEPT void level1(struct txn *t) {
    work(t, LEVEL1);
    CALL(t, LEVEL2, level2(t));
    spin(3000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PREPARE, prepare(t));
    CALL(t, LEVEL1, level1(t));
    spin(3000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    RUN(transaction);
    return survivor_end();
}
