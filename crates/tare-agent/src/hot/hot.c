/* What happens when a watched function is entered or left.
 *
 * A stub (src/stub.rs) takes the return address off the stack and calls the function itself, so that the function returns to
 * the stub and the processor's prediction of returns stays right. The address taken off is kept in a stack of frames of this
 * thread, with the place on the stack where it was, the slot. Invariants:
 *   - Frames are in the order of entry. On one stack a frame whose slot is below the stack pointer is gone (longjmp).
 *   - Two live frames have the same slot only where the older one's function left by a tail call: the younger one's return
 *     address is then the older one's stub, and each stub in turn goes back one frame.
 *   - A frame's slot holds the stub's address, or, while it is bare, the original: exceptions are unwound by return addresses.
 *   - `busy` is not 0 while this file works for the thread: a signal's handler that comes upon it runs unwatched.
 *
 * Only general registers, no library: the interrupted code's other registers are live. */

#include "hot.h"

#define FRAMES 4096
#define GRAVES 256
#define SUBJECT 0x0fffffffu
#define OTHERS 4096 /* records between looks at whether the profiler listens */
#define STALE_NS 2000000000ll

enum { ENTER = 1u << 28, EXIT = 2u << 28, CUT = 3u << 28, LABEL = 8u << 28, CPU = 9u << 28, LOST = 10u << 28 };
enum { MODE_CPU = 1 << 12, MODE_ENTRY_ONLY = 1 << 13, MODE_COUNTING = 1 << 14 };
#define MODE_PLAIN (1u << 31) /* used, and nothing else: both ends, with the call site */
enum { FREE, CLAIMING, OWNED, LEFT };
enum { HOOK_UNWINDS = 1, HOOK_CAUGHT = 2 };

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define compiler_barrier() __asm__ volatile("" ::: "memory")

struct frame {
    uint64_t slot, original;
    uint32_t function, bare;
};

/* On a page of its own, which a forked child gets empty: it needs a ring of its own. */
struct view {
    struct record *records;
    uint64_t mask, head, limit, checked;
    struct slot *slot;
    uint32_t *counts;
    uint64_t lost;
    uint32_t pid, tries;
};

struct thread {
    struct view view __attribute__((aligned(4096)));
    uint64_t apart[64] __attribute__((aligned(4096))); /* else loads of `view` would wait for stores of `busy` (4K aliasing) */
    volatile uint64_t busy;
    volatile uint64_t doing; /* see `doing`; of something earlier if its slot is not `busy` */
    volatile uint32_t depth;
    uint32_t graves;
    struct frame frames[FRAMES];
    struct frame graveyard[GRAVES]; /* frames taken for gone; in case one returns all the same (other stacks) */
};

struct runtime tare_runtime __attribute__((visibility("hidden")));
static __thread struct thread *self;
static __thread uint32_t making;

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

static inline uint64_t ticks(void) {
    if (unlikely(tare_runtime.ticks != 0)) return slow_clock();
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

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

/* ---- a thread's memory and its slot ---- */

enum { PROT_RW = 3, MAP_PRIVATE_ANONYMOUS = 0x22, MADV_WIPEONFORK = 18, MADV_POPULATE_WRITE = 23, ENOMEM = 12, EFAULT = 14, EINVAL = 22 };

static struct thread *make_thread(void) {
    if (making) return 0;
    making = 1;
    compiler_barrier();
    long at = system_call(SYS_MMAP, 0, sizeof(struct thread), PROT_RW, MAP_PRIVATE_ANONYMOUS, -1, 0);
    struct thread *thread = 0;
    if (at > 0 || at < -4095) {
        thread = (struct thread *)at;
        if (system_call(SYS_MADVISE, at, sizeof(struct view), MADV_WIPEONFORK, 0, 0, 0) != 0) {
            system_call(SYS_MUNMAP, at, sizeof(struct thread), 0, 0, 0, 0);
            thread = 0;
        }
    }
    self = thread;
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

/* The thread, made busy, with a slot; 0 if what happens now is not to be recorded. */
static __attribute__((noinline)) struct thread *make_ready(uint64_t stack) {
    struct thread *thread = self;
    if (!thread) thread = make_thread();
    if (!thread) {
        lost_elsewhere(1);
        return 0;
    }
    if (thread->busy) {
        struct alternate alternate;
        if (stack < thread->busy || thread->busy == UINT64_MAX || on_alternate_stack(&alternate)) {
            lost_elsewhere(1); /* a signal's handler, called in the midst of this file */
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

static inline struct thread *ready(uint64_t stack) {
    struct thread *thread = self;
    if (unlikely(!thread || thread->busy || !thread->view.records)) return make_ready(stack);
    thread->busy = stack;
    compiler_barrier();
    return thread;
}

static inline void done(struct thread *thread) {
    compiler_barrier();
    thread->busy = 0;
}

/* ---- frames that are gone, and frames without their stub ---- */

static void bury(struct thread *thread, uint64_t now) {
    struct frame *frame = &thread->frames[--thread->depth];
    thread->graveyard[thread->graves++ % GRAVES] = *frame;
    put(thread, now, CUT | frame->function, 0);
}

static inline uint64_t at(const struct frame *frame) { return *(volatile uint64_t *)frame->slot; }

/* Gives the stub back to frames that an exception has passed over and left alive: oldest first, for a tail call's return
   address is the older frame's stub. */
static void watch_again(struct thread *thread, uint64_t now) {
    for (uint32_t place = 0; place < thread->depth; place++) {
        struct frame *frame = &thread->frames[place];
        if (frame->bare && at(frame) == frame->original) {
            *(volatile uint64_t *)frame->slot = tare_runtime.sites[frame->function];
            frame->bare = 0;
        }
    }
    while (thread->depth && thread->frames[thread->depth - 1].bare) bury(thread, now);
}

/* At an entry with its return address at `slot`: takes off the frames that longjmp or an exception has left behind. */
static __attribute__((noinline)) void settle(struct thread *thread, uint64_t slot) {
    struct alternate stack;
    int asked = 0, alternate = 0;
    uint64_t now = ticks();
    while (thread->depth) {
        struct frame *frame = &thread->frames[thread->depth - 1];
        if (frame->slot > slot) break;
        if (frame->slot == slot && !frame->bare && at(frame) == tare_runtime.sites[frame->function]) break; /* tail call */
        if (!asked) {
            alternate = on_alternate_stack(&stack);
            asked = 1;
        }
        if (alternate && frame->slot - stack.base >= stack.size) break; /* the interrupted stack's, and alive */
        bury(thread, now);
    }
    if (thread->depth && thread->frames[thread->depth - 1].bare) watch_again(thread, now);
}

/* ---- details ---- */

static inline uint32_t site(uint64_t address) {
    const struct object *object = tare_runtime.objects;
    for (uint32_t place = 0; place < tare_runtime.object_count; place++, object++)
        if (address - object->begin < object->end - object->begin) return (uint32_t)(address - object->base);
    return 0; /* a stub's: a tail call, whose site is not known */
}

/* Argument 0 to 5 among the registers that tare_entry saved: rdi rsi rdx rcx r8 r9. */
static inline uint64_t argument(const uint64_t *saved, uint32_t number) {
    static const uint8_t place[8] = {4, 5, 6, 7, 3, 2, 4, 4};
    return saved[place[number & 7]];
}

/* Whether the page can be read: with a number that asks for nothing the kernel reads the mask, says so, and does no more.
   A sixth of what process_vm_readv costs. */
static int readable(uint64_t address) {
    return system_call(SYS_RT_SIGPROCMASK, -1, (long)(address & ~7ull), 0, 8, 0, 0) == -EINVAL;
}

/* Copies a C string of this process, and survives a pointer that is none. */
static uint32_t read_text(uint64_t from, char *text, uint32_t size) {
    uint32_t length = 0;
    for (; length < size; length++) {
        if ((length == 0 || ((from + length) & 4095) == 0) && !readable(from + length)) break;
        char byte = *(volatile const char *)(from + length);
        if (!byte) break;
        text[length] = byte;
    }
    return length;
}

/* tare_rings::record::text_hash */
static uint32_t hash_text(const char *text, uint32_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t place = 0; place < length; place++) hash = (hash ^ (uint8_t)text[place]) * 0x100000001b3u;
    uint32_t folded = (uint32_t)(hash >> 32 ^ hash) & SUBJECT;
    return folded ? folded : 1;
}

static void keep_text(uint32_t hash, const char *text, uint32_t length) {
    for (uint32_t try = 0; try < 64; try++) {
        struct text *place = &tare_runtime.texts[(hash + try) % tare_runtime.text_count];
        uint32_t there = __atomic_load_n(&place->hash, __ATOMIC_ACQUIRE);
        if (there == hash) return;
        if (there == 0 &&
            __atomic_compare_exchange_n(&place->hash, &there, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            for (uint32_t byte = 0; byte < length; byte++) place->text[byte] = text[byte];
            __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
            return;
        }
        if (there == hash) return;
    }
}

static __attribute__((noinline)) uint32_t text(uint64_t pointer) {
    char copy[120];
    if (!pointer) return 0;
    uint32_t length = read_text(pointer, copy, sizeof copy);
    uint32_t hash = hash_text(copy, length);
    keep_text(hash, copy, length);
    return hash;
}

static __attribute__((noinline)) uint32_t words(uint32_t mode, const uint64_t *saved) {
    uint32_t word = (uint32_t)argument(saved, mode >> 4);
    if ((mode & 3) == 1) return word;
    return (word & 15) | text(argument(saved, mode >> 8)) << 4;
}

/* ---- entry, exit, unwinding ---- */

/* 1: the stub is to call the function and come to tare_leave after it. */
long tare_enter(uint64_t *slot, uint32_t function, const uint64_t *saved) {
    struct thread *thread = ready((uint64_t)slot);
    if (unlikely(!thread)) return 0;
    uint32_t mode = tare_runtime.modes[__atomic_load_n(&tare_runtime.switches[function], __ATOMIC_RELAXED)];
    if (unlikely(mode == 0)) {
        done(thread);
        return 0;
    }
    if (mode & MODE_COUNTING) {
        uint32_t *count = &thread->view.counts[function];
        __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
        done(thread);
        return 0;
    }
    if (thread->depth) {
        struct frame *top = &thread->frames[thread->depth - 1];
        if (unlikely(top->slot <= (uint64_t)slot || top->bare)) settle(thread, (uint64_t)slot);
    }
    uint64_t original = *slot;
    uint32_t detail = likely((mode & 3) == 0) ? site(original) : words(mode, saved);
    long watched = 0;
    uint32_t depth = thread->depth;
    if (!(mode & MODE_ENTRY_ONLY)) {
        if (unlikely(depth == FRAMES)) {
            thread->view.lost++; /* told with the next record that finds no room in `limit`: at once */
            thread->view.limit = thread->view.head;
            done(thread);
            return 0;
        }
        struct frame *frame = &thread->frames[depth];
        frame->slot = (uint64_t)slot;
        frame->original = original;
        frame->function = function;
        frame->bare = 0;
        watched = 1;
        thread->doing = doing((uint64_t)slot, thread->view.head, 0);
        thread->depth = depth + 1;
        compiler_barrier();
    }
    uint64_t now = ticks();
    put(thread, now, ENTER | function, detail);
    if (unlikely(mode & MODE_CPU)) put_cpu(thread, now);
    done(thread);
    return watched;
}

static __attribute__((noinline, noreturn)) void astray(void) {
    static const char words[] = "tare agent: a function returned that had not been entered; this process cannot go on\n";
    system_call(SYS_WRITE, 2, (long)words, sizeof words - 1, 0, 0, 0);
    __builtin_trap();
}

/* A return that is not the youngest frame's: younger ones are gone, or it was on another stack. */
static __attribute__((noinline)) uint64_t leave_older(struct thread *thread, uint64_t slot, uint32_t function, uint64_t now) {
    for (uint32_t place = thread->depth; place-- > 0;) {
        struct frame *frame = &thread->frames[place];
        if (frame->slot != slot || frame->function != function || frame->bare) continue;
        uint64_t original = frame->original;
        while (thread->depth > place + 1) bury(thread, now);
        put(thread, now, EXIT | function, 0);
        thread->depth = place;
        return original;
    }
    for (uint32_t back = 1; back <= GRAVES && back <= thread->graves; back++) {
        struct frame *frame = &thread->graveyard[(thread->graves - back) % GRAVES];
        if (frame->slot == slot && frame->function == function) return frame->original; /* its Cut has been told */
    }
    astray();
}

/* Where the function that has returned goes on. */
uint64_t tare_leave(uint64_t *slot, uint32_t function) {
    struct thread *thread = self;
    if (unlikely(!thread)) astray();
    thread->busy = (uint64_t)slot;
    compiler_barrier();
    uint64_t now = ticks(), original;
    thread->doing = doing((uint64_t)slot, thread->view.head, 1);
    compiler_barrier();
    /* In a forked child the frames are the parent's and the ring is not there yet. */
    if (unlikely(!thread->view.records) && !claim(thread)) {
        lost_elsewhere(1);
        for (uint32_t place = thread->depth; place-- > 0;) {
            struct frame *frame = &thread->frames[place];
            if (frame->slot == (uint64_t)slot && frame->function == function) {
                thread->depth = place;
                original = frame->original;
                done(thread);
                return original;
            }
        }
        astray();
    }
    struct frame *frame = &thread->frames[thread->depth - 1];
    if (unlikely(!thread->depth || frame->slot != (uint64_t)slot || frame->function != function)) {
        original = leave_older(thread, (uint64_t)slot, function, now);
    } else {
        original = frame->original;
        put(thread, now, EXIT | function, 0);
        if (unlikely(tare_runtime.modes[tare_runtime.switches[function]] & MODE_CPU)) put_cpu(thread, now);
        compiler_barrier();
        thread->depth--;
    }
    done(thread);
    return original;
}

/* Before the unwinder reads return addresses, they are put back, youngest first; when an exception is caught, what lies
   below the catcher is gone and the rest is watched again. */
void tare_hook(uint64_t *slot, uint32_t kind) {
    struct thread *thread = self;
    if (!thread || !thread->depth || (uint64_t)slot < thread->busy) return;
    thread->busy = (uint64_t)slot;
    compiler_barrier();
    if (kind == HOOK_UNWINDS) {
        for (uint32_t place = thread->depth; place-- > 0;) {
            struct frame *frame = &thread->frames[place];
            if (!frame->bare && at(frame) == tare_runtime.sites[frame->function]) {
                *(volatile uint64_t *)frame->slot = frame->original;
                frame->bare = 1;
            }
        }
    } else if (thread->view.records || claim(thread)) {
        uint64_t now = ticks();
        while (thread->depth && thread->frames[thread->depth - 1].slot <= (uint64_t)slot) bury(thread, now);
        watch_again(thread, now);
    }
    done(thread);
}

/* ---- for other writers: markers and sleds ---- */

int tare_put(uint32_t word, uint32_t detail) {
    struct thread *thread = ready((uint64_t)__builtin_frame_address(0));
    if (unlikely(!thread)) return 0;
    put(thread, ticks(), word, detail);
    done(thread);
    return 1;
}

struct sleds tare_sleds __attribute__((visibility("hidden")));

/* Where XRay's entry trampoline has saved the registers, seen from its handler. Where it aligned the stack by force, the
   stack pointer from before was pushed twice, so that it is at this place whether or not that moved it. */
static inline const uint64_t *saved_by_sled(const uint64_t *stack) {
    if (unlikely(tare_sleds.forced)) return (const uint64_t *)stack[2];
    return (const uint64_t *)((const uint8_t *)(stack + 1) + tare_sleds.padding);
}

static __attribute__((noinline)) uint32_t words_of_sled(uint32_t mode, const uint64_t *stack) {
    const uint8_t *registers = (const uint8_t *)saved_by_sled(stack);
    uint64_t saved[9] = {0};
    static const uint8_t place[6] = {4, 5, 6, 7, 3, 2}; /* as tare_entry saves them */
    for (uint32_t number = 0; number < 6; number++)
        saved[place[number]] = *(const uint64_t *)(registers + tare_sleds.arguments[number]);
    return words(mode, saved);
}

/* Where the function entered returns to. */
static inline uint64_t caller_of_sled(const uint64_t *stack) {
    return *(const uint64_t *)((const uint8_t *)saved_by_sled(stack) + tare_sleds.sled + 8);
}

/* Whatever is not the plainest case. */
static __attribute__((noinline)) void sled(uint32_t function, uint32_t mode, int left, const uint64_t *stack) {
    if (mode == 0 || (left && mode & (MODE_COUNTING | MODE_ENTRY_ONLY))) return;
    struct thread *thread = ready((uint64_t)stack);
    if (!thread) return;
    uint64_t now = ticks();
    if (left) {
        put(thread, now, EXIT | function, 0);
    } else if (mode & MODE_COUNTING) {
        uint32_t *count = &thread->view.counts[function];
        __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
    } else {
        uint32_t detail =
            (mode & 3) == 0 ? site(caller_of_sled(stack)) : words_of_sled(mode, stack);
        put(thread, now, ENTER | function, detail);
    }
    if (mode & MODE_CPU) put_cpu(thread, now);
    done(thread);
}

/* A function entered (kind 0; 3 of those whose first argument XRay hands over) or left (1; 2 by a tail call) by way of a
   sled: does what its switch says. `stack`: the stack pointer at the first instruction of the handler. The plainest case is
   told here with registers that need no saving. */
void tare_sled(uint32_t id, uint32_t kind, const uint64_t *stack) {
    if (unlikely(id >= tare_sleds.count)) return;
    uint32_t function = tare_sleds.places[id] - 1;
    if (unlikely(function == UINT32_MAX)) return;
    uint32_t mode = tare_runtime.modes[__atomic_load_n(&tare_runtime.switches[function], __ATOMIC_RELAXED)];
    int left = kind == 1 || kind == 2;
    struct thread *thread = self;
    if (unlikely(mode != MODE_PLAIN || !thread || thread->busy || thread->view.head == thread->view.limit ||
                 tare_runtime.ticks)) {
        sled(function, mode, left, stack);
        return;
    }
    thread->busy = (uint64_t)stack;
    compiler_barrier();
    uint32_t detail = left ? 0 : site(caller_of_sled(stack));
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    store(&thread->view, (uint64_t)high << 32 | low, (left ? EXIT : ENTER) | function, detail);
    done(thread);
}

uint32_t tare_text(const char *pointer) {
    struct thread *thread = ready((uint64_t)__builtin_frame_address(0));
    if (!thread) return 0;
    uint32_t hash = text((uint64_t)pointer);
    done(thread);
    return hash;
}

/* The thread ends: what was open is cut, and the slot is the profiler's to empty. */
void tare_thread_ends(void *value) {
    struct thread *thread = self;
    (void)value;
    if (!thread) return;
    thread->busy = UINT64_MAX;
    compiler_barrier();
    if (thread->view.records) {
        uint64_t now = ticks();
        while (thread->depth) bury(thread, now);
        __atomic_store_n(&thread->view.slot->state, LEFT, __ATOMIC_RELEASE);
    }
    self = 0;
    compiler_barrier();
    system_call(SYS_MUNMAP, (long)thread, sizeof(struct thread), 0, 0, 0, 0);
}
