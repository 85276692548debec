/* Marks of transactions in a program of your own, for `tare profile`. C99 and C++; nothing to link.
 *
 * A thread that works on a transaction says so:
 *
 *     tare_begin(id);              a new transaction
 *     tare_label(id, "payment");   its type, once
 *     tare_suspend(id);            this thread turns to something else; the transaction waits
 *     tare_resume(id);             some thread, perhaps another, goes on with it
 *     tare_end(id);                it is over
 *
 * An id is below 2^60 and of one transaction at a time in its process; it may be used again after tare_end. A thread
 * works on one transaction at a time: to begin or resume another suspends the one before. Intervals of one id that
 * overlap in time are reported, and their times not added up (SIGMOD 2017, section 3.1).
 *
 * Without a profiler a mark costs a call, a load and a branch. Under the agent (`tare profile run --backend agent` or
 * `annotation`) it becomes a record; `tare profile attach` puts a probe on tare_mark, which needs its symbol: do not
 * strip the program.
 */
#ifndef TARE_PROFILE_H
#define TARE_PROFILE_H

#include <stdint.h>

#if !defined(__GNUC__)
#error "tare_profile.h needs GCC or Clang (weak symbols): compile with one of them, or leave the marks out"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of what is marked: those of the records (crates/tare-rings/src/record.rs). */
enum { TARE_BEGIN = 4, TARE_SUSPEND = 5, TARE_RESUME = 6, TARE_END = 7, TARE_LABEL = 8 };

/* All marks go through here, so that a probe can be put on it. Weak: a program has one, however many files include this.
 * It begins with NOPs, which the kernel's probes need not step over. */
__attribute__((weak, noinline, visibility("default"), patchable_function_entry(5, 0)))
void tare_mark(uint32_t kind, uint64_t id, const char *label)
{
#if defined(__x86_64__)
    /* The agent's function, from the global offset table: a compiler's own reference to a weak symbol may be settled
     * as "there is none" when an executable is linked, before any library is loaded. */
    void (*agent)(uint32_t, uint64_t, const char *);
    __asm__(".weak tare_agent_mark\n\tmovq tare_agent_mark@GOTPCREL(%%rip), %0" : "=r"(agent));
    if (__builtin_expect(agent != 0, 0))
        agent(kind, id, label);
#else
    /* There is no agent for this architecture; a probe finds the arguments. */
    __asm__ volatile("" : : "r"(kind), "r"(id), "r"(label));
#endif
}

static inline void tare_begin(uint64_t id) { tare_mark(TARE_BEGIN, id, 0); }
static inline void tare_suspend(uint64_t id) { tare_mark(TARE_SUSPEND, id, 0); }
static inline void tare_resume(uint64_t id) { tare_mark(TARE_RESUME, id, 0); }
static inline void tare_end(uint64_t id) { tare_mark(TARE_END, id, 0); }

/* Up to 120 bytes of the name count. They are read here, since a probe cannot read a page that nobody has touched. */
static inline void tare_label(uint64_t id, const char *name)
{
    const volatile char *byte = name;
    int left = 120;
    while (byte && left-- > 0 && *byte)
        byte++;
    tare_mark(TARE_LABEL, id, name);
}

#ifdef __cplusplus
}
#endif

#endif
