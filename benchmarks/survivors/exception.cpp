// One of eleven transactions throws three calls deep. Variant `inside`: the transaction catches it; variant `above`: the
// exception leaves the transaction too.
#include "survivor.h"

#include <stdexcept>

static const char *const names[] = {"transaction", "parse", "execute", "bind", "fetch", 0};
enum { PARSE = 1, EXECUTE, BIND, FETCH };
static bool inside;

struct Row { // its destructor makes the unwinder stop on its way
    unsigned *rows;
    ~Row() { ++*rows; }
};
static unsigned rows;

KEPT void parse(txn *t) { work(t, PARSE); }

KEPT void fetch(txn *t) {
    Row row{&rows};
    work(t, FETCH);
    if (t->number % 11 == 0) throw std::runtime_error("no such row");
    spin(2000);
}

KEPT void bind(txn *t) {
    Row row{&rows};
    work(t, BIND);
    CALL(t, FETCH, fetch(t));
    spin(2000);
}

KEPT void execute(txn *t) {
    work(t, EXECUTE);
    CALL(t, BIND, bind(t));
    spin(2000);
}

KEPT void transaction(txn *t) {
    CALL(t, PARSE, parse(t));
    if (inside) {
        try {
            CALL(t, EXECUTE, execute(t));
        } catch (const std::exception &) {
            land(t, PARSE);
        }
    } else {
        CALL(t, EXECUTE, execute(t));
    }
    spin(2000);
}

static void attempt(txn *t) {
    try {
        transaction(t);
    } catch (const std::exception &) {
    }
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    inside = is_variant("inside");
    RUN(attempt);
    return survivor_end();
}
