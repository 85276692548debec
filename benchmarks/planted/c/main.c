/* planted --source NAME [--seed N] [--threads N] [--seconds S] [--transactions N] [--mean-us US] [--file F] [--truth F]
 *
 * Runs transactions until its time is over or it gets SIGTERM or SIGINT, then writes what each really was. */
#include "planted.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const source_names[SOURCES] = {"none", "lock", "io", "work", "pair", "antipair", "queue", "step"};
struct settings asked = {.source = NONE, .seed = 1, .seconds = 1, .mean_us = 400};
volatile int stopping;

/* The statement's type is its first word; its rows are what `scan_rows` goes over. */
static const struct {
    const char *statement;
    uint32_t rows;
} kinds[] = {{"SELECT one", 200}, {"UPDATE some", 1500}, {"DELETE many", 8000}, {"INSERT few", 500}};

static void stop(int signal) {
    (void)signal;
    stopping = 1;
}

static void *serve(void *number) {
    struct work work = {.random = seeded((uint64_t)(uintptr_t)number)};
    int32_t tid = (int32_t)syscall(SYS_gettid);
    prctl(PR_SET_TIMERSLACK, 1);
    for (struct truth *truth; (truth = truth_new());) {
        unsigned kind = (unsigned)(next_random(&work.random) >> 62);
        work.truth = truth;
        work.rows = kinds[kind].rows;
        truth->tid = tid;
        truth->type = kind;
        truth->begin_ns = now_ns();
        transaction(3, kinds[kind].statement, &work);
        truth->duration_ns = now_ns() - truth->begin_ns;
        /* else all but one of those that come while the mutex is free would find it so */
        if (asked.source == LOCK) sleep_ns(exponential(&work.random, asked.mean_us));
    }
    return 0;
}

static void *end_later(void *unused) {
    for (double left = asked.seconds; left > 0 && !stopping; left -= 0.01) sleep_ns(10000000);
    stopping = 1;
    return unused;
}

static double number(const char *name, const char *value) {
    char *end;
    double found = strtod(value, &end);
    if (*end || end == value || found < 0) {
        fprintf(stderr, "planted: %s takes a number from 0 on, not \"%s\"\n", name, value);
        exit(2);
    }
    return found;
}

static enum source source_of(const char *name) {
    for (int i = 0; i < SOURCES; i++)
        if (!strcmp(name, source_names[i])) return (enum source)i;
    fprintf(stderr, "planted: no source \"%s\"; there are", name);
    for (int i = 0; i < SOURCES; i++) fprintf(stderr, " %s", source_names[i]);
    fprintf(stderr, "\n");
    exit(2);
}

int main(int count, char **words) {
    const char *truth = 0;
    for (int i = 1; i < count; i += 2) {
        const char *name = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(name, "--source")) asked.source = source_of(value);
        else if (!strcmp(name, "--seed")) asked.seed = (uint64_t)number(name, value);
        else if (!strcmp(name, "--threads")) asked.threads = (unsigned)number(name, value);
        else if (!strcmp(name, "--seconds")) asked.seconds = number(name, value);
        else if (!strcmp(name, "--transactions")) asked.transactions = (uint64_t)number(name, value);
        else if (!strcmp(name, "--mean-us")) asked.mean_us = number(name, value);
        else if (!strcmp(name, "--file")) asked.file = value;
        else if (!strcmp(name, "--truth")) truth = value;
        else {
            fprintf(stderr, "planted: no option \"%s\"\n", name);
            return 2;
        }
    }
    int events = asked.source == QUEUE || asked.source == STEP;
    if (!asked.threads) asked.threads = events ? 4 : 1;
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, 0);
    sigaction(SIGINT, &action, 0);
    pthread_t timer, threads[asked.threads];
    if (asked.seconds > 0 && pthread_create(&timer, 0, end_later, 0)) abort();
    sources_start();
    if (events) {
        queue_run();
    } else {
        for (unsigned i = 0; i < asked.threads; i++)
            if (pthread_create(&threads[i], 0, serve, (void *)(uintptr_t)i)) abort();
        for (unsigned i = 0; i < asked.threads; i++) pthread_join(threads[i], 0);
    }
    stopping = 1;
    sources_stop();
    if (asked.seconds > 0) pthread_join(timer, 0);
    return truth_write(truth);
}
