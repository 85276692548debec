// Each thread ends after fifty transactions, three calls deep and with a lock held that only a destructor releases, by
// pthread_exit (variant `exit`) or by being cancelled (variant `cancel`). Another follows it.
#include "survivor.h"

#include <mutex>
#include <pthread.h>

static const char *const names[] = {"transaction", "parse", "execute", "commit", 0};
enum { PARSE = 1, EXECUTE, COMMIT, THREADS = 3, LAST = 50 };
static std::mutex journal;
static bool cancels;

static bool is_last(const txn *t) { return t->number % LAST == LAST - 1; }

KEPT void parse(txn *t) { work(t, PARSE); }

KEPT void append(txn *t) {
    spin(3000);
    if (!is_last(t)) return;
    if (!cancels) pthread_exit(nullptr);
    pthread_cancel(pthread_self());
    usleep(1);
}

KEPT void commit(txn *t) {
    work(t, COMMIT);
    const std::lock_guard<std::mutex> held(journal);
    append(t);
    spin(2000);
}

KEPT void execute(txn *t) {
    work(t, EXECUTE);
    CALL(t, COMMIT, commit(t));
    spin(2000);
}

KEPT void transaction(txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, EXECUTE, execute(t));
    spin(2000);
}

struct Finished {
    txn *t;
    ~Finished() { finish(t); }
};

static void *serve(void *first) {
    txn *t = static_cast<txn *>(first);
    for (;;) {
        Finished finished{t};
        CALL(t, TRANSACTION, transaction(t));
    }
}

static void *keep_serving(void *first) {
    txn t = {};
    t.number = reinterpret_cast<uint64_t>(first);
    prctl(PR_SET_TIMERSLACK, 1); // which threads inherit
    while (!survivor_truth->stopping) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, serve, &t) || pthread_join(thread, nullptr)) abort();
    }
    return nullptr;
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    cancels = is_variant("cancel");
    pthread_t keepers[THREADS];
    for (uint64_t i = 0; i < THREADS; i++)
        if (pthread_create(&keepers[i], nullptr, keep_serving, reinterpret_cast<void *>(23 * i))) abort();
    while (survivor_goes_on()) sleep_ns(EVERY_NS / 10);
    for (pthread_t keeper : keepers) pthread_join(keeper, nullptr);
    return survivor_end();
}
