/* The culprit is in a library that is loaded by dlopen: variant `before` the first transaction, variant `during` the run
 * five seconds later. Until then the program's own function of the same name takes as long. */
#include "survivor.h"

#include <dlfcn.h>

static const char *const names[] = {"transaction", "parse", "execute", "plugin_step", 0};
enum { PARSE = 1, EXECUTE, PLUGIN_STEP };
static const uint64_t AFTER_NS = 5000000000u;

KEPT void plugin_step(uint64_t ns) {
    spin(20000);
    if (ns) sleep_ns(ns);
}

static void (*volatile step)(uint64_t) = plugin_step;

static void load(const char *program) {
    char path[4096];
    snprintf(path, sizeof path, "%s_part.so", program);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "plugin_step") : 0;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy((void *)&step, &found, sizeof found);
}

KEPT void parse(struct txn *t) { work(t, PARSE); }

KEPT void execute(struct txn *t) {
    work(t, EXECUTE);
    CALL(t, PLUGIN_STEP, step(extra_ns(t, PLUGIN_STEP)));
    spin(2000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, EXECUTE, execute(t));
    spin(2000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    uint64_t due = is_variant("during") ? now_ns() + AFTER_NS : 0;
    struct txn t = {.number = 0};
    while (survivor_goes_on()) {
        if (step == plugin_step && now_ns() >= due) load(argv[0]);
        CALL(&t, TRANSACTION, transaction(&t));
        finish(&t);
    }
    return survivor_end();
}
