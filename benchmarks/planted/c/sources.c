/* The planted functions: each takes a time drawn at random, and notes how long it really took. All are leaves of the
 * program's own call graph. */
#include "planted.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BLOCK 4096

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_t holder;
static int log_file = -1;

uint64_t exponential(uint64_t *state, double mean_us) { return (uint64_t)(-1e3 * mean_us * log(uniform(state))); }

KEPT uint64_t wait_for_lock(struct work *work) {
    uint64_t began = now_ns();
    pthread_mutex_lock(&contended);
    pthread_mutex_unlock(&contended);
    uint64_t took = now_ns() - began;
    work->truth->first_ns += took;
    return took;
}

KEPT uint64_t sync_log(struct work *work) {
    uint64_t began = now_ns();
    if (log_file >= 0) {
        static const char block[BLOCK];
        if (pwrite(log_file, block, BLOCK, 0) != BLOCK || fdatasync(log_file)) perror(asked.file);
    }
    sleep_ns(exponential(&work->random, asked.mean_us));
    uint64_t took = now_ns() - began;
    work->truth->first_ns += took;
    return took;
}

KEPT uint64_t scan_rows(struct work *work) {
    uint64_t began = now_ns();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < work->rows; i++) sum += mix(work, 50);
    work->truth->first_ns += now_ns() - began;
    return sum;
}

KEPT uint64_t encode_rows(struct work *work, uint64_t ns) {
    uint64_t began = now_ns();
    sleep_ns(ns);
    uint64_t took = now_ns() - began;
    work->truth->first_ns += took;
    return took;
}

KEPT uint64_t ship_rows(struct work *work, uint64_t ns) {
    uint64_t began = now_ns();
    sleep_ns(ns);
    uint64_t took = now_ns() - began;
    work->truth->second_ns += took;
    return took + 1;
}

KEPT uint64_t apply_change(struct work *work) {
    uint64_t began = now_ns();
    if (asked.source == STEP) sleep_ns(exponential(&work->random, asked.mean_us));
    uint64_t took = now_ns() - began;
    if (asked.source == STEP) work->truth->first_ns += took;
    return took + mix(work, 20);
}

static void *hold(void *unused) {
    uint64_t random = seeded(1000);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!stopping) {
        pthread_mutex_lock(&contended);
        sleep_ns(exponential(&random, 2 * asked.mean_us));
        pthread_mutex_unlock(&contended);
        sleep_ns(exponential(&random, asked.mean_us / 2));
    }
    return unused;
}

void sources_start(void) {
    if (asked.source == LOCK && pthread_create(&holder, 0, hold, 0)) abort();
    if (asked.source == IO && asked.file && (log_file = open(asked.file, O_RDWR | O_CREAT, 0600)) < 0) {
        perror(asked.file);
        exit(1);
    }
}

void sources_stop(void) {
    if (asked.source == LOCK) pthread_join(holder, 0);
    if (log_file >= 0) close(log_file);
}
