/* Lazy LRU update: a page that is to become young waits at most 10 us for the buffer pool's mutex (Huang et al., SIGMOD
 * 2017, §6.1).
 *
 * A thread that does not get the mutex in time puts the page on a backlog of its own. When it next gets the mutex of
 * that pool, it first moves the pages of its backlog that are still in the pool. FORGET tries once and keeps no
 * backlog. Under MUTEX the server's function runs as it is; whether it found the mutex taken is counted. */
#include "graft.h"

enum { BACKLOG = 32, PATIENCE_NS = 10000, FILE_PAGE = 5 }; /* FILE_PAGE: a state of buf_page_t, an uncompressed page */

#define MUTEX_WORD(pool) ((volatile unsigned char *)(pool) + buf_pool_t_mutex_lock_word)
#define STATE(page) AT(unsigned char, page, buf_page_t_state)
#define POOL_NUMBER(page) \
    (AT(unsigned char, page, buf_page_t_buf_pool_index) >> shift_buf_page_t_buf_pool_index & ((1 << bits_buf_page_t_buf_pool_index) - 1))
#define SPACE(page) AT(uint32_t, page, buf_page_t_space)
#define NUMBER(page) AT(uint32_t, page, buf_page_t_offset)

struct deferred { char *page; uint32_t space, number; };
static __thread struct deferred backlog[BACKLOG];
static __thread int deferred;

static void (*original)(char *);
static void (*const make_block_young)(char *) = (void *)buf_LRU_make_block_young;
static void (*const wake_waiters)(char *) = (void *)mutex_signal_object;

static int try_enter(char *pool) { return !__atomic_exchange_n(MUTEX_WORD(pool), 1, __ATOMIC_SEQ_CST); }

/* As the server leaves a mutex: the exchange orders the word before the look for waiters. */
static void leave(char *pool)
{
    __atomic_exchange_n(MUTEX_WORD(pool), 0, __ATOMIC_SEQ_CST);
    if (AT(volatile ulint, pool, buf_pool_t_mutex_waiters)) wake_waiters(pool + buf_pool_t_mutex);
}

static int enter_in_time(char *pool, uint64_t patience_ns)
{
    if (try_enter(pool)) return 1;
    COUNT_ATOMIC(BUSY, 1);
    uint64_t begun = now_ns(), waited = 0;
    int is_entered = 0;
    while (!is_entered && waited < patience_ns) {
        for (int i = 0; i < 16 && *MUTEX_WORD(pool); i++) __builtin_ia32_pause();
        is_entered = !*MUTEX_WORD(pool) && try_enter(pool);
        waited = now_ns() - begun;
    }
    COUNT_ATOMIC(WAITED_NS, waited);
    return is_entered;
}

/* Moves this pool's pages of the backlog that are still what they were. Needs the pool's mutex, under which a page is
 * in the LRU list if and only if its state is that of a page of a file. */
static void apply_backlog(char *pool)
{
    int kept = 0;
    for (int i = 0; i < deferred; i++) {
        struct deferred *d = &backlog[i];
        if (AT(char *, (char *)buf_pool_ptr, 0) + sizeof_buf_pool_t * POOL_NUMBER(d->page) != pool) backlog[kept++] = *d;
        else if (STATE(d->page) != FILE_PAGE || SPACE(d->page) != d->space || NUMBER(d->page) != d->number) COUNT_ATOMIC(EVICTED, 1);
        else make_block_young(d->page), COUNT_ATOMIC(APPLIED, 1);
    }
    deferred = kept;
}

static void defer(char *page)
{
    for (int i = 0; i < deferred; i++)
        if (backlog[i].page == page) {
            backlog[i] = (struct deferred){page, SPACE(page), NUMBER(page)};
            return;
        }
    if (deferred == BACKLOG) {
        memmove(backlog, backlog + 1, sizeof backlog - sizeof *backlog);
        deferred--;
        COUNT_ATOMIC(DROPPED, 1);
    }
    backlog[deferred++] = (struct deferred){page, SPACE(page), NUMBER(page)};
    COUNT_ATOMIC(DEFERRED, 1);
}

static void hook(char *page)
{
    ulint policy = shared->policy;
    char *pool = AT(char *, (char *)buf_pool_ptr, 0) + sizeof_buf_pool_t * POOL_NUMBER(page);
    COUNT_ATOMIC(CALLS, 1);
    if (policy == MUTEX || STATE(page) != FILE_PAGE) { /* another page's descriptor may be freed while it is deferred */
        if (!*MUTEX_WORD(pool)) {
            original(page);
            return;
        }
        uint64_t begun = now_ns();
        original(page);
        COUNT_ATOMIC(BUSY, 1), COUNT_ATOMIC(WAITED_NS, now_ns() - begun);
        return;
    }
    if (enter_in_time(pool, policy == LAZY ? PATIENCE_NS : 0)) {
        apply_backlog(pool);
        make_block_young(page);
        leave(pool);
    } else if (policy == LAZY) {
        defer(page);
    } else {
        COUNT_ATOMIC(FORGOTTEN, 1);
    }
}

__attribute__((constructor)) static void begin(void)
{
    if (!graft_begin("lazylru", codes, sizeof codes / sizeof *codes)) return;
    original = graft_detour(buf_page_make_young, 8, 1, hook);
    shared->pid = (uint64_t)getpid();
}
