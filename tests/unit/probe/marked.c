/* Transactions that begin in one thread and end in another; each works for 200 us there and 100 us here. A line tells
 * that it runs, and that a library that is preloaded into it has started. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "tare_profile.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static uint64_t queue[64];
static unsigned head, tail;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) void inner(long ns)
{
    for (long end = now() + ns; now() < end;)
        ;
}

__attribute__((noinline)) void outer(long ns)
{
    inner(ns / 2);
    for (long end = now() + ns / 2; now() < end;)
        ;
}

static void *second(void *nothing)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (head == tail)
            pthread_cond_wait(&filled, &lock);
        uint64_t id = queue[head++ % 64];
        pthread_mutex_unlock(&lock);
        tare_resume(id);
        outer(100000);
        tare_end(id);
    }
    return nothing;
}

int main(void)
{
    pthread_t thread;
    if (write(1, "runs\n", 5) != 5)
        return 1;
    pthread_create(&thread, 0, second, 0);
    for (uint64_t id = 1;; id++) {
        tare_begin(id);
        tare_label(id, id % 2 ? "odd" : "even");
        outer(200000);
        tare_suspend(id);
        pthread_mutex_lock(&lock);
        queue[tail++ % 64] = id;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
        usleep(2000);
    }
}
