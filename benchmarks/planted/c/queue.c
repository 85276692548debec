/* An event server: a transaction is several tasks of one id, each done by whichever thread takes it next from one queue. */
#include "planted.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tare_profile.h"

#define STEPS 3
#define ROOM 4096u

struct task {
    struct work work;
    unsigned step;
    uint64_t ready_ns; /* not to be done before */
    uint64_t left_ns;  /* when its transaction was last turned from */
};

static struct task *waiting[ROOM];
static unsigned first, count;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int closed;

KEPT void enqueue(struct task *task) {
    task->ready_ns = task->left_ns = now_ns();
    if (asked.source == QUEUE) task->ready_ns += exponential(&task->work.random, asked.mean_us);
    pthread_mutex_lock(&guard);
    if (count == ROOM) abort();
    waiting[(first + count++) % ROOM] = task;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
}

/* The first task that is ready, NULL when there will be none. */
KEPT struct task *dequeue(void) {
    struct task *found = 0;
    pthread_mutex_lock(&guard);
    while (!found && !(closed && !count)) {
        uint64_t now = now_ns(), soonest = now + 20000000u;
        for (unsigned i = 0; i < count && !found; i++) {
            struct task *one = waiting[(first + i) % ROOM];
            if (one->ready_ns <= now) {
                for (unsigned j = i; j > 0; j--)
                    waiting[(first + j) % ROOM] = waiting[(first + j - 1) % ROOM];
                first = (first + 1) % ROOM;
                count--;
                found = one;
            } else if (one->ready_ns < soonest) {
                soonest = one->ready_ns;
            }
        }
        if (!found && !(closed && !count)) {
            struct timespec until = {(time_t)(soonest / 1000000000u), (long)(soonest % 1000000000u)};
            pthread_cond_timedwait(&changed, &guard, &until);
        }
    }
    pthread_mutex_unlock(&guard);
    return found;
}

KEPT uint64_t run_step(struct task *task) {
    struct work *work = &task->work;
    switch (task->step) {
    case 0: return parse_statement("UPDATE event", work) + plan_statement(work);
    case 1: return execute_statement(work) + apply_change(work);
    default: return commit_transaction(work) + 1;
    }
}

static void *work_on(void *unused) {
    prctl(PR_SET_TIMERSLACK, 1);
    for (struct task *task; (task = dequeue());) {
        struct truth *truth = task->work.truth;
        uint64_t id = truth->id; /* another thread has the task once it is enqueued */
        tare_resume(id);
        uint64_t began = now_ns();
        if (asked.source == QUEUE) truth->first_ns += began - task->left_ns;
        run_step(task);
        uint64_t now = now_ns();
        truth->second_ns += now - began;
        if (++task->step < STEPS) {
            tare_suspend(id);
            enqueue(task);
        } else {
            tare_end(id);
            truth->duration_ns = now - truth->begin_ns;
            free(task);
        }
    }
    return unused;
}

/* The calling thread is the one that lets transactions in. */
void queue_run(void) {
    pthread_t threads[asked.threads];
    uint64_t random = seeded(2000);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    for (unsigned i = 0; i < asked.threads; i++)
        if (pthread_create(&threads[i], 0, work_on, 0)) abort();
    for (struct truth *truth; (truth = truth_new());) {
        struct task *task = calloc(1, sizeof *task);
        if (!task) abort();
        uint64_t id = truth->id;
        truth->tid = (int32_t)syscall(SYS_gettid);
        truth->begin_ns = now_ns();
        tare_begin(id);
        task->work.truth = truth;
        task->work.random = seeded(id + 10000);
        tare_suspend(id);
        enqueue(task);
        sleep_ns(exponential(&random, 1.5 * asked.mean_us));
    }
    pthread_mutex_lock(&guard);
    closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&guard);
    for (unsigned i = 0; i < asked.threads; i++) pthread_join(threads[i], 0);
}
