// Exceptions from where a compiler expects none. Compiled with -fnon-call-exceptions. Variant `leaf`: handlers of SIGFPE
// and SIGSEGV throw out of functions that call nothing, one of them at its first instruction. Variant `plugin`: three
// seconds after its start the program loads a library, which throws through functions that neither throw nor catch.
// The first wrong result aborts.
#include "survivor.h"

#include <dlfcn.h>
#include <stdexcept>

static const char *const names[] = {"transaction", "parse", "execute", "visit", "fetch", 0};
enum { PARSE = 1, EXECUTE, VISIT, FETCH, DIVIDES_AT = 11, LOADS_AT = 13, REFUSES_AT = 7 };
static const uint64_t AFTER_NS = 3000000000u;

using Check = void (*)(uint64_t);
using Scan = void (*)(txn *, uint64_t, void (*)(txn *, uint64_t, Check));

static void demand(bool claim, const char *what) {
    if (claim) return;
    fprintf(stderr, "throws.cpp: false: %s\n", what);
    abort();
}
#define DEMAND(claim) demand(claim, #claim)

struct Fault : std::runtime_error {
    int signal;
    explicit Fault(int number) : std::runtime_error("a signal"), signal(number) {}
};

KEPT void throw_fault(int signal) { throw Fault(signal); }

// Their first instructions: one that faults, and one before the one that faults.
KEPT uint64_t load(const volatile uint64_t *from) { return *from; }
KEPT int divide(int of, int by) { return of / by; }

KEPT void parse(txn *t) { work(t, PARSE); }
KEPT void fetch(txn *t) { work(t, FETCH); }

// Variant `leaf`.
KEPT void visit(txn *t) {
    uint64_t number = t->number;
    work(t, VISIT);
    CALL(t, FETCH, fetch(t));
    DEMAND(load(number % LOADS_AT ? &number : nullptr) == number);
    int by = static_cast<int>(number % DIVIDES_AT), quotient = divide(100, by);
    DEMAND(quotient * by + 100 % by == 100);
}

// Variant `plugin`: called by the library, and calls it. With no library there is nothing to check.
KEPT void on_row(uint64_t row, Check check) {
    spin(1000);
    if (check) check(row);
    spin(1000);
}

KEPT void on_batch(txn *t, uint64_t row, Check check) {
    work(t, VISIT);
    CALL(t, FETCH, fetch(t));
    on_row(row, check);
    spin(1000);
}

static Scan scan;

KEPT void execute(txn *t) {
    work(t, EXECUTE);
    if (is_variant("leaf"))
        CALL(t, VISIT, visit(t));
    else if (scan)
        CALL(t, VISIT, scan(t, t->number, on_batch));
    else
        CALL(t, VISIT, on_batch(t, t->number, nullptr));
    spin(2000);
}

static int expected_signal(uint64_t number) {
    if (number % LOADS_AT == 0) return SIGSEGV;
    return number % DIVIDES_AT == 0 ? SIGFPE : 0;
}

KEPT void transaction(txn *t) {
    int signal = 0;
    bool refused = false;
    CALL(t, PARSE, parse(t));
    try {
        CALL(t, EXECUTE, execute(t));
    } catch (const Fault &fault) {
        signal = fault.signal;
    } catch (const std::out_of_range &error) {
        refused = !strcmp(error.what(), "row refused");
    }
    land(t, PARSE);
    DEMAND(signal == (is_variant("leaf") ? expected_signal(t->number) : 0));
    DEMAND(refused == (scan && t->number % REFUSES_AT == 0));
    spin(2000);
}

static void load_plugin(const char *program) {
    char path[4096];
    snprintf(path, sizeof path, "%s_part.so", program);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "scan") : nullptr;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy(&scan, &found, sizeof found);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    struct sigaction action = {};
    action.sa_handler = throw_fault;
    action.sa_flags = SA_NODEFER; // no return unblocks the signal
    if (sigaction(SIGFPE, &action, nullptr) || sigaction(SIGSEGV, &action, nullptr)) abort();
    uint64_t due = is_variant("plugin") ? now_ns() + AFTER_NS : UINT64_MAX;
    txn t = {};
    while (survivor_goes_on()) {
        if (!scan && now_ns() >= due) load_plugin(argv[0]);
        CALL(&t, TRANSACTION, transaction(&t));
        finish(&t);
    }
    return survivor_end();
}
