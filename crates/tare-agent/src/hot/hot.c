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

#include "details.h"
#include "thread.h"

enum { MODE_APPLIES = 1 << 20, MODE_UNTOLD = 1 << 21 };
enum { PLAIN = 1 }; /* a switch's value (tare_rings::mode): both ends, with the call site */
enum { ASK = 2 };   /* tare_enter_plain's answer, beside tare_enter's 0 and 1 */
enum { HOOK_UNWINDS = 1, HOOK_CAUGHT = 2 };

/* ---- frames that are gone, and frames without their stub ---- */

enum { FOUND_LATER = 0, JUST_LEFT = 1 }; /* a cut's detail: whether its time is that at which the frame was left */

static void bury(struct thread *thread, uint64_t now, uint32_t when) {
    struct frame *frame = &thread->frames[--thread->depth];
    thread->graveyard[thread->graves++ % GRAVES] = *frame;
    put(thread, now, CUT | frame->function, when);
}

static inline uint64_t at(const struct frame *frame) { return *(volatile uint64_t *)frame->slot; }

/* Gives the stub back to frames that an exception has passed over and left alive: oldest first, for a tail call's return
   address is the older frame's stub. */
static void watch_again(struct thread *thread, uint64_t now, uint32_t when) {
    for (uint32_t place = 0; place < thread->depth; place++) {
        struct frame *frame = &thread->frames[place];
        if (frame->bare && at(frame) == frame->original) {
            *(volatile uint64_t *)frame->slot = tare_runtime.sites[frame->function];
            frame->bare = 0;
        }
    }
    while (thread->depth && thread->frames[thread->depth - 1].bare) bury(thread, now, when);
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
        bury(thread, now, FOUND_LATER);
    }
    if (thread->depth && thread->frames[thread->depth - 1].bare) watch_again(thread, now, FOUND_LATER);
}

/* ---- entry, exit, unwinding ---- */

/* At a trigger, and before a fork: patches the functions that are wanted by now, unless that is done. */
__attribute__((noinline)) void tare_apply(void) {
    uint32_t generation = __atomic_load_n(tare_runtime.generation, __ATOMIC_ACQUIRE);
    if (generation == tare_runtime.applied || !tare_runtime.apply) return;
    tare_runtime.applied = generation;
    tare_call_saved(tare_runtime.apply, 0, 0);
}

static inline uint32_t mode_of(uint32_t function) {
    return tare_runtime.modes[__atomic_load_n(&tare_runtime.switches[function], __ATOMIC_RELAXED)];
}

/* The profiler reads it at any time; only this thread writes it. */
static inline void count(struct thread *thread, uint32_t function) {
    uint32_t *calls = &thread->view.counts[function];
    __atomic_store_n(calls, *calls + 1, __ATOMIC_RELAXED);
}

static inline int is_plain(uint32_t function) {
    return __atomic_load_n(&tare_runtime.switches[function], __ATOMIC_RELAXED) == PLAIN;
}

/* Of code and of memory a plain call takes as few lines of cache as there can be: a server does so much between two watched
   calls that many of them have to be fetched again. These two lie next to tare_entry and tare_exit, call nothing and need no
   register that those have not saved. */
#define NEAR_ENTRY __attribute__((section(".text.tare"), aligned(64)))

/* tare_enter of a plain call. ASK: it is none, and nothing has been done. */
NEAR_ENTRY long tare_enter_plain(uint64_t *slot, uint32_t function) {
    struct thread *thread = own();
    uint64_t original = *slot, at = original - tare_runtime.program;
    if (unlikely(!is_plain(function) || !thread || thread->busy || at >= tare_runtime.span)) return ASK;
    thread->busy = (uint64_t)slot; /* before the ring is looked at, to which a signal's handler may add */
    compiler_barrier();
    struct view *view = &thread->view;
    uint32_t depth = thread->depth;
    struct frame *frame = &thread->frames[depth];
    if (unlikely(view->head == view->limit || depth == FRAMES) ||
        (depth && unlikely(frame[-1].slot <= (uint64_t)slot || frame[-1].bare))) {
        done(thread);
        return ASK;
    }
    frame->slot = (uint64_t)slot;
    frame->original = original;
    frame->function = function;
    frame->bare = 0;
    frame->plain = 1;
    thread->doing = doing((uint64_t)slot, view->head, 0);
    thread->depth = depth + 1;
    compiler_barrier();
    store(view, time_stamp(), ENTER | function, (uint32_t)at);
    done(thread);
    return 1;
}

/* tare_leave of a plain call. 0: it is none, and nothing has been done. */
NEAR_ENTRY uint64_t tare_leave_plain(uint64_t *slot, uint32_t function) {
    struct thread *thread = own();
    if (unlikely(!thread)) return 0;
    thread->busy = (uint64_t)slot;
    compiler_barrier();
    struct view *view = &thread->view;
    uint32_t depth = thread->depth - 1;
    struct frame *frame = &thread->frames[depth];
    if (unlikely(depth >= FRAMES || frame->slot != (uint64_t)slot || frame->function != function || !frame->plain ||
                 view->head == view->limit)) {
        done(thread);
        return 0;
    }
    uint64_t now = time_stamp(), original = frame->original;
    thread->doing = doing((uint64_t)slot, view->head, 1);
    compiler_barrier();
    store(view, now, EXIT | function, 0);
    compiler_barrier();
    thread->depth = depth;
    done(thread);
    return original;
}

/* 1: the stub is to call the function and come to tare_leave after it. */
long tare_enter(uint64_t *slot, uint32_t function, const uint64_t *saved) {
    uint32_t mode = mode_of(function);
    if (unlikely(mode == 0)) return 0;
    struct thread *thread = ready((uint64_t)slot, mode);
    if (unlikely(!thread)) return 0;
    if (unlikely(mode & MODE_APPLIES)) {
        tare_apply();
        if (mode & MODE_UNTOLD) {
            done(thread);
            return 0;
        }
    }
    if (mode & MODE_COUNTING) {
        count(thread, function);
        done(thread);
        return 0;
    }
    if (thread->depth) {
        struct frame *top = &thread->frames[thread->depth - 1];
        if (unlikely(top->slot <= (uint64_t)slot || top->bare)) settle(thread, (uint64_t)slot);
    }
    uint64_t original = *slot;
    uint32_t detail;
    if (likely((mode & 3) == 0)) {
        detail = site(original);
    } else if (!words(thread, &mode, saved, &detail)) {
        done(thread);
        return 0;
    }
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
        frame->plain = 0;
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
        while (thread->depth > place + 1) bury(thread, now, FOUND_LATER);
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
    struct thread *thread = own();
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
        if (unlikely(mode_of(function) & MODE_CPU)) put_cpu(thread, now);
        compiler_barrier();
        thread->depth--;
    }
    done(thread);
    return original;
}

/* Before the unwinder reads return addresses, they are put back, youngest first; when an exception is caught, what lies
   below the catcher is gone and the rest is watched again. */
void tare_hook(uint64_t *slot, uint32_t kind) {
    struct thread *thread = own();
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
        while (thread->depth && thread->frames[thread->depth - 1].slot <= (uint64_t)slot) bury(thread, now, JUST_LEFT);
        watch_again(thread, now, JUST_LEFT);
    }
    done(thread);
}

/* ---- for other writers: markers and sleds ---- */

int tare_put(uint32_t word, uint32_t detail) {
    struct thread *thread = ready((uint64_t)__builtin_frame_address(0), MODE_ENTRY_ONLY);
    if (unlikely(!thread)) return 0;
    put(thread, ticks(), word, detail);
    done(thread);
    return 1;
}

struct sleds tare_sleds __attribute__((visibility("hidden")));

static inline uint32_t function_of(uint32_t id) { return likely(id < tare_sleds.count) ? tare_sleds.places[id] : NONE; }

/* 0: something is not so plain, and nothing has been done. */
static inline int tell(uint64_t slot, uint32_t word, uint32_t detail) {
    struct thread *thread = own();
    if (unlikely(!thread || thread->busy || tare_runtime.ticks)) return 0;
    thread->busy = slot;
    compiler_barrier();
    int room = thread->view.head != thread->view.limit;
    if (likely(room)) store(&thread->view, time_stamp(), word, detail);
    done(thread);
    return room;
}

static __attribute__((noinline)) void enter_sled(uint32_t function, uint32_t mode, const uint64_t *slot, const uint64_t *saved) {
    struct thread *thread = mode ? ready((uint64_t)slot, mode) : 0;
    if (!thread) return;
    uint64_t now = ticks();
    uint32_t detail = 0;
    int told = !(mode & MODE_COUNTING);
    if (!told) count(thread, function);
    else if ((mode & 3) == 0) detail = site(*slot);
    else told = words(thread, &mode, saved, &detail);
    if (told) put(thread, now, ENTER | function, detail);
    if (told && mode & MODE_CPU) put_cpu(thread, now);
    done(thread);
}

static __attribute__((noinline)) void leave_sled(uint32_t function, uint32_t mode, const uint64_t *slot) {
    if (mode == 0 || mode & (MODE_COUNTING | MODE_ENTRY_ONLY)) return;
    struct thread *thread = ready((uint64_t)slot, 0);
    if (!thread) return;
    uint64_t now = ticks();
    put(thread, now, EXIT | function, 0);
    if (mode & MODE_CPU) put_cpu(thread, now);
    done(thread);
}

/* A function entered by way of a sled, with its return address at `slot`: does what its switch says. */
void tare_enter_sled(uint32_t id, const uint64_t *slot, const uint64_t *saved) {
    uint32_t function = function_of(id);
    if (unlikely(function == NONE)) return;
    if (unlikely(!is_plain(function) || !tell((uint64_t)slot, ENTER | function, site(*slot))))
        enter_sled(function, mode_of(function), slot, saved);
}

/* The same of a function left, by a return or by a tail call. */
void tare_leave_sled(uint32_t id, const uint64_t *slot) {
    uint32_t function = function_of(id);
    if (unlikely(function == NONE)) return;
    if (unlikely(!is_plain(function) || !tell((uint64_t)slot, EXIT | function, 0)))
        leave_sled(function, mode_of(function), slot);
}

uint32_t tare_text(const char *pointer) {
    struct thread *thread = ready((uint64_t)__builtin_frame_address(0), 0);
    if (!thread) return 0;
    uint32_t hash = text(thread, (uint64_t)pointer, 0);
    done(thread);
    return hash;
}

/* The thread ends: what was open is cut, and the slot is the profiler's to empty. */
void tare_thread_ends(void *value) {
    struct thread *thread = own();
    (void)value;
    if (!thread) return;
    thread->busy = UINT64_MAX;
    compiler_barrier();
    if (thread->view.records) {
        uint64_t now = ticks();
        while (thread->depth) bury(thread, now, JUST_LEFT);
        __atomic_store_n(&thread->view.slot->state, LEFT, __ATOMIC_RELEASE);
    }
    self = 0;
    compiler_barrier();
    system_call(SYS_MUNMAP, (long)thread, sizeof(struct thread), 0, 0, 0, 0);
}
