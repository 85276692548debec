/* Shared by the programs of this folder: work whose time is known, and sums of what transactions really took.
 *
 * PROGRAM SECONDS VARIANT CULPRIT: runs for SECONDS (0: until SIGTERM). Every 20 ms, and at its end, it writes one JSON
 * line with its sums so far: the difference of two lines is the truth between them. */
#ifndef SURVIVOR_H
#define SURVIVOR_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define IN_PLACE static inline __attribute__((always_inline))

enum { MOST = 8, TRANSACTION = 0 };
static const uint64_t EVERY_NS = 20000000;

/* Sums over all transactions, of all threads and child processes: calls, x, x² and xT, where x is the function's time
 * within a transaction and T the transaction's duration. */
struct survivor_sums {
    uint64_t calls;
    double ns, squares, products;
};
struct survivor_truth {
    char guard;
    int stopping;
    uint64_t transactions, printed_ns;
    struct survivor_sums functions[MOST];
};
static struct survivor_truth *survivor_truth;
static const char *const *survivor_names;
static const char *survivor_variant;
static int survivor_culprit, survivor_functions;
static uint64_t survivor_until;

/* One transaction. Function 0 is the transaction itself; a function that calls itself is timed at its outermost call. */
struct txn {
    uint64_t number, open_ns[MOST], ns[MOST];
    unsigned depth[MOST], calls[MOST];
};

IN_PLACE uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

IN_PLACE void enter(struct txn *t, int f) {
    t->calls[f]++;
    if (!t->depth[f]++) t->open_ns[f] = now_ns();
}

IN_PLACE void leave(struct txn *t, int f) {
    if (!--t->depth[f]) t->ns[f] += now_ns() - t->open_ns[f];
}

/* Closes the functions that an exception or a longjmp has left; `first` is the outermost of them that is timed. */
IN_PLACE void land(struct txn *t, int first) {
    for (int f = first; f < MOST; f++)
        if (t->depth[f]) {
            t->depth[f] = 1;
            leave(t, f);
        }
}

#define CALL(t, f, call) (enter(t, f), (call), leave(t, f))

/* The system call itself, so that no function of the C library takes the time that a culprit is to have. A signal does
 * not shorten it. */
IN_PLACE void sleep_ns(uint64_t ns) {
    uint64_t until = now_ns() + ns;
    struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    register void *remaining __asm__("r10") = 0;
    long result;
    do {
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "0"(SYS_clock_nanosleep), "D"(CLOCK_MONOTONIC), "S"(TIMER_ABSTIME), "d"(&time), "r"(remaining)
                         : "rcx", "r11", "memory");
    } while (result == -EINTR);
}

IN_PLACE void spin(unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) __asm__ volatile("" : "+r"(i));
}

/* Waits of successive transactions: two cycles without a common period, so that two functions do not vary together. */
static const uint64_t LONG_NS[] = {0, 1400000, 200000, 400000, 0, 2000000, 400000, 200000, 800000, 600000};
static const uint64_t SHORT_NS[] = {0, 600000, 200000, 0, 400000, 100000, 200000};
#define OF_CYCLE(cycle, number) cycle[(number) % (sizeof(cycle) / sizeof *(cycle))]

/* The wait of a function beyond its work: the culprit waits most, the function numbered before it a little. */
IN_PLACE uint64_t extra_ns(const struct txn *t, int f) {
    if (f == survivor_culprit) return OF_CYCLE(LONG_NS, t->number);
    int other = survivor_culprit > 1 ? survivor_culprit - 1 : survivor_functions - 1;
    return f == other ? OF_CYCLE(SHORT_NS, t->number) : 0;
}

/* Some 10 µs of CPU time, and the wait. */
IN_PLACE void work(const struct txn *t, int f) {
    spin(20000);
    uint64_t extra = extra_ns(t, f);
    if (extra) sleep_ns(extra);
}

IN_PLACE int is_variant(const char *name) { return !strcmp(survivor_variant, name); }

static void survivor_stop(int signal) {
    (void)signal;
    survivor_truth->stopping = 1;
}

static void survivor_lock(void) {
    while (__atomic_test_and_set(&survivor_truth->guard, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

static void survivor_unlock(void) { __atomic_clear(&survivor_truth->guard, __ATOMIC_RELEASE); }

static void survivor_print(int ended) {
    char line[2048];
    survivor_lock();
    struct survivor_truth truth = *survivor_truth;
    survivor_unlock();
    int at = snprintf(line, sizeof line, "{\"transactions\": %lu, \"at_ns\": %lu, \"ended\": %s, \"functions\": {",
                      truth.transactions, now_ns(), ended ? "true" : "false");
    for (int f = 0; f < survivor_functions; f++) {
        const struct survivor_sums *s = &truth.functions[f];
        at += snprintf(line + at, sizeof line - (size_t)at, "%s\"%s\": [%lu, %.17g, %.17g, %.17g]", f ? ", " : "",
                       survivor_names[f], s->calls, s->ns, s->squares, s->products);
    }
    at += snprintf(line + at, sizeof line - (size_t)at, "}}\n");
    if (write(1, line, (size_t)at) != at) _exit(3);
}

/* Prints if it is time to. Whether to go on. */
static int survivor_goes_on(void) {
    uint64_t now = now_ns();
    if (now - survivor_truth->printed_ns >= EVERY_NS) {
        survivor_truth->printed_ns = now;
        survivor_print(0);
    }
    if (survivor_until && now >= survivor_until) survivor_truth->stopping = 1;
    return !survivor_truth->stopping;
}

/* A transaction that has ended, however it did. */
static void finish(struct txn *t) {
    land(t, TRANSACTION);
    double whole = (double)t->ns[TRANSACTION];
    survivor_lock();
    survivor_truth->transactions++;
    for (int f = 0; f < survivor_functions; f++) {
        struct survivor_sums *s = &survivor_truth->functions[f];
        double ns = (double)t->ns[f];
        s->calls += t->calls[f];
        s->ns += ns;
        s->squares += ns * ns;
        s->products += ns * whole;
    }
    survivor_unlock();
    uint64_t number = t->number + 1;
    memset(t, 0, sizeof *t);
    t->number = number;
}

static void survivor_start(int argc, char **argv, const char *const *names) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s SECONDS VARIANT CULPRIT\n", argv[0]);
        exit(2);
    }
    survivor_names = names;
    while (names[survivor_functions]) survivor_functions++;
    survivor_variant = argv[2];
    for (int f = 1; f < survivor_functions; f++)
        if (!strcmp(names[f], argv[3])) survivor_culprit = f;
    if (!survivor_culprit) {
        fprintf(stderr, "%s has no function %s\n", argv[0], argv[3]);
        exit(2);
    }
    void *shared = mmap(0, sizeof *survivor_truth, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
    survivor_truth = (struct survivor_truth *)shared;
    double seconds = atof(argv[1]);
    survivor_truth->printed_ns = now_ns();
    if (seconds > 0) survivor_until = now_ns() + (uint64_t)(1e9 * seconds);
    prctl(PR_SET_TIMERSLACK, 1);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = survivor_stop;
    sigaction(SIGTERM, &action, 0);
}

static int survivor_end(void) {
    survivor_print(1);
    return 0;
}

/* A transaction that parses and then executes, which calls the function named `last`; `does` is the work of each. */
#define STATEMENT(last, does)                                                                                          \
    static const char *const names[] = {"transaction", "parse", "execute", #last, 0};                                  \
    enum { PARSE = 1, EXECUTE, LAST };                                                                                 \
    KEPT void parse(struct txn *t) { does(t, PARSE); }                                                                 \
    KEPT void last(struct txn *t) { does(t, LAST); }                                                                   \
    KEPT void execute(struct txn *t) {                                                                                 \
        does(t, EXECUTE);                                                                                              \
        CALL(t, LAST, last(t));                                                                                        \
        spin(2000);                                                                                                    \
    }                                                                                                                  \
    KEPT void transaction(struct txn *t) {                                                                             \
        CALL(t, PARSE, parse(t));                                                                                      \
        CALL(t, EXECUTE, execute(t));                                                                                  \
        spin(2000);                                                                                                    \
    }

/* The loop of a program that has one thread, after survivor_start. */
#define RUN(transaction)                                                                                               \
    do {                                                                                                               \
        struct txn t;                                                                                                  \
        memset(&t, 0, sizeof t);                                                                                       \
        while (survivor_goes_on()) {                                                                                   \
            CALL(&t, TRANSACTION, transaction(&t));                                                                    \
            finish(&t);                                                                                                \
        }                                                                                                              \
    } while (0)

#endif
