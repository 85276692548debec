/* A small transaction server with known sources of variance in it: what a profiler of variance is held against. */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdint.h>
#include <time.h>

/* Kept as functions at -O2, as a server's large ones are; calls between them are otherwise the compiler's choice. */
#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

/* What varies from transaction to transaction. */
enum source {
    NONE,
    LOCK,     /* wait_for_lock: a mutex that another thread holds for random times */
    IO,       /* sync_log: a write whose end comes after a random time */
    WORK,     /* scan_rows: as many rows as the statement asks for; its type is told by its text */
    PAIR,     /* encode_rows and ship_rows: the second takes as long as the first */
    ANTIPAIR, /* the same two: the second takes the less the more the first took */
    QUEUE,    /* an event server: a task waits in its queue for a random time */
    STEP,     /* an event server: apply_change, in one of its steps, takes a random time */
    SOURCES
};
extern const char *const source_names[SOURCES];

/* As asked for. */
struct settings {
    enum source source;
    uint64_t seed;
    unsigned threads;       /* 0: 1, and 4 of an event server, so that few tasks wait for one */
    double seconds;        /* 0: until SIGTERM or SIGINT */
    uint64_t transactions; /* at most, of all threads; 0: no limit */
    double mean_us;        /* of the planted time */
    const char *file;      /* IO: written to and synced, before the random wait; NULL: only the wait */
};
extern struct settings asked;
extern volatile int stopping;

/* One transaction as it really was, ns. `first` and `second` are measured inside the planted functions. */
struct truth {
    uint64_t id;
    int32_t tid; /* of its first interval */
    uint32_t type;
    uint64_t begin_ns; /* CLOCK_MONOTONIC */
    uint64_t duration_ns;
    uint64_t first_ns;  /* the planted function; the waiting of QUEUE */
    uint64_t second_ns; /* the second one of a pair; the steps' own time in QUEUE and STEP */
};

/* What a transaction carries along. */
struct work {
    struct truth *truth;
    uint64_t random;
    uint32_t rows;
    uint64_t table[64];
};

/* Truth is kept in memory and written at the end. `truth_new` gives NULL when the program is to stop. */
struct truth *truth_new(void);
int truth_write(const char *path);

/* Of the tree; see tree.c. */
int transaction(unsigned command, const char *statement, struct work *work);
uint64_t parse_statement(const char *statement, struct work *work);
uint64_t plan_statement(struct work *work);
uint64_t execute_statement(struct work *work);
uint64_t commit_transaction(struct work *work);

/* The planted ones; see sources.c. */
uint64_t wait_for_lock(struct work *work);
uint64_t sync_log(struct work *work);
uint64_t scan_rows(struct work *work);
uint64_t encode_rows(struct work *work, uint64_t ns);
uint64_t ship_rows(struct work *work, uint64_t ns);
uint64_t apply_change(struct work *work);
void sources_start(void);
void sources_stop(void);

/* The event server; see queue.c. */
void queue_run(void);

static inline uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void sleep_ns(uint64_t ns) {
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&time, 0);
}

/* xorshift64*; Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016. */
static inline uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static inline uint64_t seeded(uint64_t stream) {
    uint64_t state = (asked.seed + 1) * 0x9e3779b97f4a7c15u ^ (stream + 1) * 0xbf58476d1ce4e5b9u;
    for (int i = 0; i < 8; i++) next_random(&state);
    return state;
}

/* Above 0, at most 1. */
static inline double uniform(uint64_t *state) { return (double)((next_random(state) >> 11) + 1) * 0x1p-53; }

/* ns, exponential. */
uint64_t exponential(uint64_t *state, double mean_us);

/* Mixes a little of `work`: CPU time that no compiler drops. */
static inline uint64_t mix(struct work *work, unsigned rounds) {
    uint64_t sum = work->table[0];
    for (unsigned i = 0; i < rounds; i++) {
        sum = sum * 6364136223846793005u + work->table[i & 63];
        work->table[i & 63] ^= sum >> 31;
    }
    return sum;
}

#endif
