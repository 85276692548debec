/* Direct recursion (descend), and two functions that call each other (visit_even, visit_odd), down to a leaf each. */
#include "survivor.h"

static const char *const names[] = {"transaction", "descend", "visit_even", "visit_odd", "read_leaf", "write_leaf", 0};
enum { DESCEND = 1, VISIT_EVEN, VISIT_ODD, READ_LEAF, WRITE_LEAF };

KEPT void read_leaf(struct txn *t) { work(t, READ_LEAF); }
KEPT void write_leaf(struct txn *t) { work(t, WRITE_LEAF); }

KEPT void descend(struct txn *t, unsigned levels) {
    spin(2000);
    if (levels)
        CALL(t, DESCEND, descend(t, levels - 1));
    else {
        work(t, DESCEND);
        CALL(t, READ_LEAF, read_leaf(t));
    }
    spin(1000);
}

KEPT void visit_odd(struct txn *t, unsigned levels);

KEPT void visit_even(struct txn *t, unsigned levels) {
    if (levels)
        CALL(t, VISIT_ODD, visit_odd(t, levels - 1));
    else {
        work(t, VISIT_EVEN);
        CALL(t, WRITE_LEAF, write_leaf(t));
    }
    spin(1000);
}

KEPT void visit_odd(struct txn *t, unsigned levels) {
    if (levels == 1) work(t, VISIT_ODD);
    CALL(t, VISIT_EVEN, visit_even(t, levels - 1));
    spin(1000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, DESCEND, descend(t, 2 + t->number % 3));
    CALL(t, VISIT_EVEN, visit_even(t, 4));
    spin(2000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    RUN(transaction);
    return survivor_end();
}
