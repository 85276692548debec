/* InnoDB's lock queues, as the server's structures hold them, and who waits for a transaction. All need the lock
 * system's mutex. */
#include "graft.h"

enum { TABLE = 16, RECORD = 32, WAIT = 256 }; /* bits of type_mode */
#define TRX(l) AT(char *, l, ib_lock_t_trx)
#define MODE(l) AT(ulint, l, ib_lock_t_type_mode)
#define HASH(l) AT(char *, l, ib_lock_t_hash)
#define SPACE(l) AT(ulint, l, ib_lock_t_un_member_rec_lock_space)
#define PAGE(l) AT(ulint, l, ib_lock_t_un_member_rec_lock_page_no)
#define RECORDS(l) AT(ulint, l, ib_lock_t_un_member_rec_lock_n_bits)
#define TABLE_OF(l) AT(char *, l, ib_lock_t_un_member_tab_lock_table)
#define NEXT(l) AT(char *, l, ib_lock_t_un_member_tab_lock_locks_next)
#define PREV(l) AT(char *, l, ib_lock_t_un_member_tab_lock_locks_prev)
#define FIRST_LOCK(trx) AT(char *, trx, trx_t_lock_trx_locks_start)
#define NEXT_LOCK(l) AT(char *, l, ib_lock_t_trx_locks_next)
#define ID(trx) AT(uint64_t, trx, trx_t_id)

static ulint (*const has_to_wait)(const char *, const char *) = (void *)lock_has_to_wait;
static ulint (*const has_to_wait_in_queue)(const char *) = (void *)lock_rec_has_to_wait_in_queue;
static void (*const grant)(char *) = (void *)lock_grant;

/* The start of the chain of record locks that holds those of a page. */
static char **chain(ulint space, ulint page)
{
    char *table = AT(char *, *(char **)lock_sys, lock_sys_t_rec_hash);
    ulint fold = (((space ^ page ^ 1653893711u) << 8) + space ^ 1463735687u) + page; /* ut_fold_ulint_pair */
    ulint cell = (fold ^ 1653893711u) % AT(ulint, table, hash_table_t_n_cells);
    return (char **)(AT(char *, table, hash_table_t_array) + 8 * cell);
}

static int is_on_page(const char *lock, ulint space, ulint page) { return SPACE(lock) == space && PAGE(lock) == page; }

/* Whether a record lock is of the record with this number on its page. The bits follow the lock. */
static int has_record(const char *lock, ulint number)
{
    return number < RECORDS(lock) && lock[sizeof_ib_lock_t + number / 8] >> number % 8 & 1;
}

/* The record that a waiting lock is of: it has a single one. */
static ulint record_of(const char *lock)
{
    ulint number = 0;
    while (number < RECORDS(lock) && !has_record(lock, number)) number++;
    return number;
}

/* Calls `visit` for each waiter on a page of which `trx` holds a record lock, with that lock. */
static void for_waiters_behind(const char *trx, int most, void (*visit)(char *waiter, char *held, void *data), void *data)
{
    for (char *l = FIRST_LOCK(trx); l && most; l = NEXT_LOCK(l)) {
        if ((MODE(l) & (RECORD | WAIT)) != RECORD) continue;
        most--;
        for (char *w = *chain(SPACE(l), PAGE(l)), *next; w; w = next) {
            next = HASH(w);
            if (is_on_page(w, SPACE(l), PAGE(l)) && MODE(w) & WAIT) visit(w, l, data);
        }
    }
}

enum { LOCKS_OF_A_HOLDER = 64 };
struct weight { double sum; ulint p; uint64_t now; };

static void add_age(struct weight *weight, const char *trx)
{
    double power = 1;
    for (ulint i = 1; i < weight->p; i++) power *= (double)(weight->now - ID(trx)) + 1;
    weight->sum += power;
}

static void add_dependent(char *waiter, char *held, void *weight)
{
    if (has_record(held, record_of(waiter)) && has_to_wait(waiter, held)) add_age(weight, TRX(waiter));
}

/* Sum of age^(p - 1) over a transaction and those that wait for it: what the p-th power of all response times gains,
 * to first order, if it goes first. p = 1 counts them. Ages are in transactions begun since. */
static double weight(const char *trx, ulint p)
{
    struct weight weight = {0, p, AT(uint64_t, *(char **)trx_sys, trx_sys_t_max_trx_id)};
    add_age(&weight, trx);
    for_waiters_behind(trx, LOCKS_OF_A_HOLDER, add_dependent, &weight);
    return weight.sum;
}
