/* Lock order: which of a queue's waiters InnoDB grants next (Huang et al., SIGMOD 2017, §5.2 and §7.2).
 *
 * Called before the server's own dequeue of a record's or a table's lock, with the lock system's mutex held. The
 * waiters that the policy chooses move ahead of the others of their record or table; the server then grants them and, by
 * its own rule, whoever has no conflict ahead. Two rules keep its deadlock detector right, which sees a wait only for a lock ahead:
 * a new wait is only ever for a transaction that has just been granted its lock and runs, and waiters that are passed
 * over keep their order. Under ELDEST_STRICT compatible waiters are withheld, which the detector cannot see: they are
 * granted as soon as the transaction that they are withheld for begins to wait. */
#include "lock_queues.h"

enum { MOST = 256, STARVED_S = 10 };

static void (*original_record)(char *), (*original_table)(char *);
static uint64_t (*original_deadlock)(const char *, const char *);
static int has_withheld; /* ever */
static uint64_t seed = 88172645463325252u;

/* The smallest goes first. No policy but by age keeps a waiter back for longer than STARVED_S. */
static double key(const char *lock, ulint policy, time_t now)
{
    if (policy == ELDEST || policy == ELDEST_STRICT) return (double)ID(TRX(lock));
    if (now - AT(time_t, TRX(lock), trx_t_lock_wait_started) >= STARVED_S) return COUNT(STARVED, 1), -1e300;
    if (policy == AGE_POWER) return -weight(TRX(lock), shared->parameter);
    if (policy == DEPENDENTS) return -weight(TRX(lock), 1);
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (double)(seed >> 11);
}

struct queues { /* of a page or a table, without the lock that leaves */
    int granted, waiting, chosen, withheld;
    char *grants[MOST], *waits[MOST], *choice[MOST], *hidden[MOST];
};

/* Fills `choice` with the waiters that the policy grants, and counts how often it had a choice. */
static void choose(struct queues *q, ulint policy, int is_record)
{
    int order[MOST], is_chosen[MOST] = {0}, has_choice = 0, overtakes = 0, younger = 0;
    ulint records[MOST];
    double keys[MOST];
    time_t now = policy > ELDEST_STRICT ? time(NULL) : 0;
    for (int i = 0, j; i < q->waiting; order[j] = i++) {
        records[i] = is_record ? record_of(q->waits[i]) : 0;
        keys[i] = policy == FIRST_COME ? i : key(q->waits[i], policy, now);
        for (j = i; j && keys[order[j - 1]] > keys[i]; j--) order[j] = order[j - 1];
    }
    for (int o = 0; o < q->waiting; o++) {
        int i = order[o], is_granted = 1, withholds = 0;
        char *w = q->waits[i];
        for (int g = 0; g < q->granted && is_granted; g++)
            is_granted = (is_record && !has_record(q->grants[g], records[i])) || !has_to_wait(w, q->grants[g]);
        if (!is_granted) continue;
        for (int b = 0; b < o; b++) {
            int before = order[b];
            if (records[before] != records[i]) continue;
            if (has_to_wait(w, q->waits[before])) is_granted = 0;
            else withholds |= is_chosen[before];
            if (is_granted || !is_chosen[before]) continue;
            has_choice = 1, overtakes |= i < before, younger |= ID(TRX(w)) < ID(TRX(q->waits[before]));
            break;
        }
        if (is_granted && withholds && is_record && policy == ELDEST_STRICT) q->hidden[q->withheld++] = w;
        else if (is_granted) is_chosen[i] = 1, q->choice[q->chosen++] = w;
    }
    COUNT(CHOICES, has_choice), COUNT(OVERTAKES, overtakes), COUNT(YOUNGER_FIRST, younger);
    COUNT(WAITERS, has_choice ? q->waiting : 0), COUNT(WITHHELD, q->withheld);
}

/* Whether a lock of a chain waits for the same record as `waiter`, and is not `in`. */
static int is_waiter(const char *lock, const char *in, const char *waiter)
{
    return lock != in && MODE(lock) & WAIT && is_on_page(lock, SPACE(waiter), PAGE(waiter)) && record_of(lock) == record_of(waiter);
}

/* A chosen waiter goes before the first waiter for its record, and so behind a granted lock of it: a detector that
 * cancels a victim's wait comes here too, and then relies on that. */
static void record_hook(char *in)
{
    uint64_t begun = now_ns();
    struct queues q;
    ulint policy = shared->policy, space = SPACE(in), page = PAGE(in);
    char **const start = chain(space, page), **link = start, **at;
    q.granted = q.waiting = q.chosen = q.withheld = 0;
    for (; *link && q.granted + q.waiting < MOST; link = &HASH(*link)) {
        if (*link == in || !is_on_page(*link, space, page)) continue;
        *(MODE(*link) & WAIT ? &q.waits[q.waiting++] : &q.grants[q.granted++]) = *link;
    }
    if (q.granted + q.waiting == MOST) COUNT(SKIPPED, 1);
    else if (q.waiting > 1) choose(&q, policy, 1);
    for (int i = policy == FIRST_COME ? 0 : q.chosen; i-- > 0;) {
        char *l = q.choice[i];
        for (at = start; !is_waiter(*at, in, l); at = &HASH(*at)) {}
        for (link = at; *link != l; link = &HASH(*link)) {}
        if (link != at) *link = HASH(l), HASH(l) = *at, *at = l;
    }
    for (int i = 0; i < q.withheld; i++) MODE(q.hidden[i]) &= ~(ulint)WAIT, has_withheld = 1;
    COUNT(RECORD_CALLS, 1), COUNT(NS, now_ns() - begun);
    original_record(in);
    for (int i = 0; i < q.withheld; i++) MODE(q.hidden[i]) |= WAIT;
}

/* The server looks only at waiters behind the lock that leaves: where one is ahead of it the queue is left alone. */
static void table_hook(char *in)
{
    uint64_t begun = now_ns();
    struct queues q;
    ulint policy = shared->policy;
    char *table = TABLE_OF(in), *at = NULL;
    int is_behind = 0, is_skipped = 0;
    q.granted = q.waiting = q.chosen = q.withheld = 0;
    q.waits[0] = NULL;
    for (char *l = AT(char *, table, dict_table_t_locks_start); l && !is_skipped; l = NEXT(l)) {
        is_skipped = q.granted + q.waiting == MOST || (MODE(l) & WAIT && l != in && !is_behind);
        if (l == in) is_behind = 1;
        else if (!is_skipped) *(MODE(l) & WAIT ? &q.waits[q.waiting++] : &q.grants[q.granted++]) = l;
    }
    if (is_skipped) COUNT(SKIPPED, 1);
    else if (at = q.waits[0], q.waiting > 1) choose(&q, policy, 0);
    for (int i = 0; policy != FIRST_COME && i < q.chosen; i++) {
        char *l = q.choice[i], *next = NEXT(l);
        if (l == at) { at = next; continue; }
        NEXT(PREV(l)) = next;
        *(next ? &PREV(next) : &AT(char *, table, dict_table_t_locks_end)) = PREV(l);
        *(PREV(at) ? &NEXT(PREV(at)) : &AT(char *, table, dict_table_t_locks_start)) = l;
        PREV(l) = PREV(at), NEXT(l) = at, PREV(at) = l;
    }
    COUNT(TABLE_CALLS, 1), COUNT(NS, now_ns() - begun);
    original_table(in);
}

static void release_withheld(char *waiter, char *held, void *unused)
{
    (void)unused;
    if (TRX(waiter) != TRX(held) && !has_to_wait_in_queue(waiter)) grant(waiter), COUNT(RELEASED, 1);
}

/* A transaction begins to wait: those that are withheld for it are granted before the detector looks. */
static uint64_t deadlock_hook(const char *lock, const char *trx)
{
    if (has_withheld) for_waiters_behind(trx, INT32_MAX, release_withheld, NULL);
    return original_deadlock(lock, trx);
}

__attribute__((constructor)) static void begin(void)
{
    if (!graft_begin("lockord", codes, sizeof codes / sizeof *codes)) return;
    original_record = graft_detour(lock_rec_dequeue_from_page, 6, -1, record_hook);
    original_table = graft_detour(lock_table_dequeue, 6, -1, table_hook);
    original_deadlock = graft_detour(lock_deadlock_check_and_resolve, 6, -1, deadlock_hook);
    shared->pid = (uint64_t)getpid();
}
