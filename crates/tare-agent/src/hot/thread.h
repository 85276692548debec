/* A thread's memory, its ring in the shared file, and the clock: all that a record needs. Part of hot.c, which tells the
   invariants; system calls are made here, by no library. */
#pragma once
#include <stddef.h>

#include "hot.h"

#define FRAMES 4096
#define GRAVES 256
#define KNOWN 32
#define SUBJECT 0x0fffffffu
#define OTHERS 4096 /* records between looks at whether the profiler listens */
#define STALE_NS 2000000000ll

enum { MODE_DETAIL = 3, MODE_CPU = 1 << 12, MODE_ENTRY_ONLY = 1 << 13, MODE_COUNTING = 1 << 14 };

enum { ENTER = 1u << 28, EXIT = 2u << 28, CUT = 3u << 28, LABEL = 8u << 28, CPU = 9u << 28, LOST = 10u << 28 };
enum { FREE, CLAIMING, OWNED, LEFT };

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define compiler_barrier() __asm__ volatile("" ::: "memory")

struct frame {
    uint64_t slot, original;
    uint32_t function;
    uint16_t bare, plain; /* plain: its exit tells the time and nothing else */
} __attribute__((aligned(32)));

/* At the end of a page of its own, which a forked child gets empty: it needs a ring of its own. */
struct view {
    struct record *records;
    uint64_t mask, head, limit, checked;
    struct slot *slot;
    uint32_t *counts;
    uint64_t lost;
    uint32_t pid, tries;
    uint32_t working;  /* its last state was not the one at which work is through */
    uint32_t known_at; /* the generation that `known` is of */
    uint32_t word;     /* of its last state, */
    uint64_t said, begins; /* its text, by its place and its beginning */
} __attribute__((aligned(128)));

struct thread {
    uint8_t unused[4096 - sizeof(struct view)];
    struct view view;
    volatile uint64_t busy; /* from here to the first frame: one line of cache */
    volatile uint64_t doing; /* see `doing`; of something earlier if its slot is not `busy` */
    volatile uint32_t depth;
    uint32_t graves;
    struct frame frames[FRAMES];
    struct frame graveyard[GRAVES]; /* frames taken for gone; in case one returns all the same (other stacks) */
    uint32_t known[KNOWN][4]; /* hashes of texts that are kept, the latest first: a transaction's in few lines of cache */
};
enum { MIDDLE = offsetof(struct thread, busy) };
_Static_assert(MIDDLE == 4096, "the page that is emptied ends before it");

struct runtime tare_runtime __attribute__((visibility("hidden")));
/* The thread's middle: what is needed most lies so near it that instructions are short. 0: none yet. */
static __thread uint8_t *self;
static __thread uint32_t making;

/* Where `self` lies from the thread pointer: for tare_runtime, which spares plain calls a line of the linker's table. */
uint64_t tare_self_offset(void) {
    uint64_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return (uint64_t)&self - pointer;
}

static inline struct thread *own(void) {
    uint8_t *middle;
    __asm__ volatile("mov %%fs:(%1), %0" : "=r"(middle) : "r"(tare_runtime.self));
    return middle ? (struct thread *)(middle - MIDDLE) : 0;
}

long tare_call_saved(void *function, uint64_t a, uint64_t b);

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

enum {
    SYS_MMAP = 9,
    SYS_MUNMAP = 11,
    SYS_WRITE = 1,
    SYS_RT_SIGPROCMASK = 14,
    SYS_MADVISE = 28,
    SYS_GETPID = 39,
    SYS_SIGALTSTACK = 131,
    SYS_GETTID = 186,
    SYS_CLOCK_GETTIME = 228,
};
enum { CLOCK_MONOTONIC = 1, CLOCK_THREAD_CPUTIME_ID = 3 };

struct timespec {
    int64_t seconds, ns;
};

static uint64_t clock_ns(long clock) {
    struct timespec now = {0, 0};
    system_call(SYS_CLOCK_GETTIME, clock, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.ns;
}

static __attribute__((noinline)) uint64_t slow_clock(void) {
    struct timespec now = {0, 0};
    tare_call_saved(tare_runtime.clock_gettime, CLOCK_MONOTONIC, (uint64_t)&now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.ns;
}

static inline uint64_t time_stamp(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline uint64_t ticks(void) { return unlikely(tare_runtime.ticks != 0) ? slow_clock() : time_stamp(); }

/* Nobody has looked for two seconds: the profiler was killed, or cannot keep up by far. Off with everything. */
static void check_listener(struct view *view) {
    uint64_t heartbeat = __atomic_load_n(tare_runtime.heartbeat, __ATOMIC_ACQUIRE);
    view->checked = view->head;
    if (heartbeat == 0 || (int64_t)(clock_ns(CLOCK_MONOTONIC) - heartbeat) < STALE_NS) return;
    for (uint32_t place = 0; place < tare_runtime.functions; place++)
        if (tare_runtime.switches[place]) __atomic_store_n(&tare_runtime.switches[place], 0, __ATOMIC_RELAXED);
    __atomic_store_n(tare_runtime.marks, 0, __ATOMIC_RELAXED);
    __atomic_store_n(tare_runtime.stopped, 1, __ATOMIC_RELEASE);
}

static inline void store(struct view *view, uint64_t time, uint32_t word, uint32_t detail) {
    struct record *record = &view->records[view->head & view->mask];
    record->time = time;
    record->word = word;
    record->detail = detail;
    view->head++;
    __atomic_store_n(&view->slot->head, view->head, __ATOMIC_RELEASE);
}

/* Sees how far the profiler has read. 0: no room, and one more is lost. */
static __attribute__((noinline)) int make_room(struct view *view, uint64_t time) {
    uint64_t tail = __atomic_load_n(&view->slot->tail, __ATOMIC_ACQUIRE);
    uint64_t room = view->mask + 1 - (view->head - tail);
    if (room < (view->lost ? 2u : 1u)) {
        if ((view->lost++ & 1023) == 0) check_listener(view);
        __atomic_store_n(&view->slot->lost, view->lost, __ATOMIC_RELAXED);
        view->limit = view->head;
        return 0;
    }
    if (view->lost) {
        store(view, time, LOST, view->lost > UINT32_MAX ? UINT32_MAX : (uint32_t)view->lost);
        view->lost = 0;
        __atomic_store_n(&view->slot->lost, 0, __ATOMIC_RELAXED);
    }
    if (view->head - view->checked >= OTHERS) check_listener(view);
    view->limit = tail + view->mask + 1;
    if (view->limit - view->head > OTHERS) view->limit = view->head + OTHERS;
    return 1;
}

static inline void put(struct thread *thread, uint64_t time, uint32_t word, uint32_t detail) {
    struct view *view = &thread->view;
    if (unlikely(view->head == view->limit) && !make_room(view, time)) return;
    store(view, time, word, detail);
}

static __attribute__((noinline)) void put_cpu(struct thread *thread, uint64_t time) {
    uint64_t ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    put(thread, time, CPU | ((uint32_t)(ns >> 32) & SUBJECT), (uint32_t)ns);
}

static void lost_elsewhere(uint64_t count) { __atomic_fetch_add(tare_runtime.unplaced, count, __ATOMIC_RELAXED); }

/* A signal's handler came upon this file at work. A call with both ends is missing as a whole: its time is its caller's.
   A call that would only be counted is missing from the count. A mark may have begun or ended a transaction: nobody knows
   what follows it. An exit (mode 0) is its entry's. */
static void lost_to_signal(uint32_t mode) {
    if (!(mode & MODE_COUNTING) && mode & (MODE_DETAIL | MODE_ENTRY_ONLY)) lost_elsewhere(1);
    else if (mode) __atomic_fetch_add(tare_runtime.unrecorded, 1, __ATOMIC_RELAXED);
}

enum { PROT_RW = 3, MAP_PRIVATE_ANONYMOUS = 0x22, MADV_WIPEONFORK = 18, MADV_POPULATE_WRITE = 23, ENOMEM = 12, EFAULT = 14, EINVAL = 22 };

static struct thread *make_thread(void) {
    making = 1;
    compiler_barrier();
    long at = system_call(SYS_MMAP, 0, sizeof(struct thread), PROT_RW, MAP_PRIVATE_ANONYMOUS, -1, 0);
    struct thread *thread = 0;
    if (at > 0 || at < -4095) {
        thread = (struct thread *)at;
        if (system_call(SYS_MADVISE, at, MIDDLE, MADV_WIPEONFORK, 0, 0, 0) != 0) {
            system_call(SYS_MUNMAP, at, sizeof(struct thread), 0, 0, 0, 0);
            thread = 0;
        }
    }
    self = thread ? (uint8_t *)thread + MIDDLE : 0;
    compiler_barrier();
    making = 0;
    if (thread && tare_runtime.has_key)
        tare_call_saved(tare_runtime.pthread_setspecific, tare_runtime.key, (uint64_t)thread);
    return thread;
}

/* A slot for this thread; after fork another one for the child. 0: there is none. */
static int claim(struct thread *thread) {
    struct view *view = &thread->view;
    if (view->tries++ % 1024 != 0) return 0; /* all are taken: not every call looks again */
    for (uint32_t place = 0; place < tare_runtime.slot_count; place++) {
        struct slot *slot = &tare_runtime.slots[place];
        uint32_t none = FREE;
        if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) != FREE ||
            !__atomic_compare_exchange_n(&slot->state, &none, CLAIMING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        view->pid = (uint32_t)system_call(SYS_GETPID, 0, 0, 0, 0, 0, 0);
        __atomic_store_n(&slot->pid, view->pid, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->tid, (uint32_t)system_call(SYS_GETTID, 0, 0, 0, 0, 0, 0), __ATOMIC_RELAXED);
        uint8_t *ring = tare_runtime.rings + place * tare_runtime.stride;
        /* Now, with an error; not later, with a signal that ends the server, if memory is short. */
        long filled = system_call(SYS_MADVISE, (long)ring, (long)tare_runtime.stride, MADV_POPULATE_WRITE, 0, 0, 0);
        if (filled == -ENOMEM || filled == -EFAULT) {
            __atomic_store_n(&slot->pid, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&slot->state, FREE, __ATOMIC_RELEASE);
            return 0;
        }
        __atomic_store_n(&slot->number, __atomic_fetch_add(tare_runtime.claims, 1, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        uint32_t used = __atomic_load_n(tare_runtime.used, __ATOMIC_RELAXED);
        while (used <= place &&
               !__atomic_compare_exchange_n(tare_runtime.used, &used, place + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
        view->slot = slot;
        view->mask = tare_runtime.ring - 1;
        view->head = view->checked = __atomic_load_n(&slot->head, __ATOMIC_RELAXED);
        view->limit = view->head;
        view->lost = 0;
        view->counts = (uint32_t *)(ring + (uint64_t)tare_runtime.ring * sizeof(struct record));
        __atomic_store_n(&slot->lost, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->state, OWNED, __ATOMIC_RELEASE);
        compiler_barrier();
        view->records = (struct record *)ring;
        return 1;
    }
    return 0;
}

struct alternate {
    uint64_t base;
    int32_t flags, spare;
    uint64_t size;
};

/* Whether this thread runs on the stack that it set aside for signals, and where that is. */
static int on_alternate_stack(struct alternate *stack) {
    stack->flags = 0;
    system_call(SYS_SIGALTSTACK, 0, (long)stack, 0, 0, 0, 0);
    return stack->flags & 1;
}

/* A frame's slot, the head before its record is written, and whether that is an exit's: in one word, which is stored at once. */
static inline uint64_t doing(uint64_t slot, uint64_t head, uint64_t leaving) {
    return slot << 32 | (head & 0x7fffffff) << 1 | leaving;
}

/* The thread, made busy, with a slot; 0 if what happens now, by this mode, is not to be recorded. */
static __attribute__((noinline)) struct thread *make_ready(uint64_t stack, uint32_t mode) {
    struct thread *thread = own();
    if (!thread && making) {
        lost_to_signal(mode);
        return 0;
    }
    if (!thread) thread = make_thread();
    if (!thread) {
        lost_elsewhere(1);
        return 0;
    }
    if (thread->busy) {
        struct alternate alternate;
        if (stack < thread->busy || thread->busy == UINT64_MAX || on_alternate_stack(&alternate)) {
            lost_to_signal(mode);
            return 0;
        }
        /* What was busy lies below the stack pointer: a handler jumped out of it. A frame was pushed before its entry was
           told, or its exit was told before it was popped: then no cut is to be told. */
        if (thread->depth && thread->frames[thread->depth - 1].slot == thread->busy) {
            int untold_entry = thread->doing == doing(thread->busy, thread->view.head, 0);
            int told_exit = thread->doing == doing(thread->busy, thread->view.head - 1, 1);
            if (untold_entry || told_exit) thread->depth--;
        }
    }
    thread->busy = stack;
    compiler_barrier();
    if (!thread->view.records && !claim(thread)) {
        lost_elsewhere(1);
        thread->busy = 0;
        return 0;
    }
    return thread;
}

static inline struct thread *ready(uint64_t stack, uint32_t mode) {
    struct thread *thread = own();
    if (unlikely(!thread || thread->busy || !thread->view.records)) return make_ready(stack, mode);
    thread->busy = stack;
    compiler_barrier();
    return thread;
}

static inline void done(struct thread *thread) {
    compiler_barrier();
    thread->busy = 0;
}
