/* The calls of one transaction: some thirty functions, up to eight deep, most of which vary little. */
#include "planted.h"

#define TUPLES 4

KEPT uint64_t compare_keys(struct work *work, unsigned at) { return mix(work, 100) ^ at; }

KEPT uint64_t verify_checksum(struct work *work) { return mix(work, 300); }

KEPT uint64_t read_page(struct work *work, unsigned level) {
    uint64_t sum = mix(work, 150 + level);
    return verify_checksum(work) + sum;
}

KEPT uint64_t search_page(struct work *work, unsigned level) {
    uint64_t sum = read_page(work, level);
    for (unsigned i = 0; i < 3; i++) sum += compare_keys(work, i);
    return sum;
}

KEPT uint64_t descend_index(struct work *work) {
    uint64_t sum = 0;
    for (unsigned level = 0; level < 2; level++) sum ^= search_page(work, level);
    return sum;
}

KEPT uint64_t fetch_tuple(struct work *work) {
    uint64_t sum = descend_index(work);
    return sum + mix(work, 200);
}

KEPT uint64_t next_tuple(struct work *work) {
    uint64_t sum = fetch_tuple(work);
    return sum + mix(work, 50);
}

KEPT uint64_t open_scan(struct work *work) {
    uint64_t sum = mix(work, 250);
    return sum + descend_index(work);
}

KEPT uint64_t copy_record(struct work *work) { return mix(work, 400); }

KEPT uint64_t insert_log_record(struct work *work) {
    uint64_t sum = copy_record(work);
    return sum + mix(work, 100);
}

KEPT uint64_t acquire_lock(struct work *work) {
    uint64_t sum = mix(work, 100);
    if (asked.source == LOCK) sum += wait_for_lock(work);
    return sum + 1;
}

KEPT uint64_t lock_row(struct work *work) {
    uint64_t sum = acquire_lock(work);
    return sum + mix(work, 50);
}

KEPT uint64_t update_tuple(struct work *work) {
    uint64_t sum = lock_row(work);
    sum += insert_log_record(work);
    return sum + mix(work, 200);
}

KEPT uint64_t filter_rows(struct work *work) {
    uint64_t sum = mix(work, 150);
    if (asked.source == WORK) sum += scan_rows(work);
    return sum + 1;
}

KEPT uint64_t aggregate(struct work *work) {
    uint64_t sum = filter_rows(work);
    return sum + mix(work, 150);
}

/* Tall, since it also leads to the index: a pair of its leaves is more specific than it is. */
KEPT uint64_t execute_statement(struct work *work) {
    uint64_t sum = open_scan(work);
    for (unsigned i = 0; i < TUPLES; i++) sum += next_tuple(work);
    sum += update_tuple(work);
    sum += aggregate(work);
    if (asked.source == PAIR || asked.source == ANTIPAIR) {
        uint64_t mean = (uint64_t)(1e3 * asked.mean_us);
        int together = asked.source == PAIR;
        uint64_t first = together ? exponential(&work->random, asked.mean_us)
                                  : (uint64_t)(2.0 * uniform(&work->random) * (double)mean);
        uint64_t took = encode_rows(work, first); /* longer than asked for, on a busy machine: the second follows */
        uint64_t less = took * 4 / 5;
        sum += took + ship_rows(work, together ? took : less < 2 * mean ? 2 * mean - less : 0);
    }
    return sum + mix(work, 100);
}

KEPT uint64_t next_token(struct work *work, char letter) { return mix(work, 50) ^ (uint64_t)letter; }

KEPT uint64_t lex(const char *statement, struct work *work) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 5 && statement[i]; i++) sum += next_token(work, statement[i]);
    return sum;
}

KEPT uint64_t look_up_catalog(struct work *work) { return mix(work, 500); }

KEPT uint64_t parse_statement(const char *statement, struct work *work) {
    uint64_t sum = lex(statement, work);
    return sum + look_up_catalog(work);
}

KEPT uint64_t read_statistics(struct work *work) { return mix(work, 300); }

KEPT uint64_t estimate_cost(struct work *work) {
    uint64_t sum = read_statistics(work);
    return sum + mix(work, 150);
}

KEPT uint64_t choose_path(struct work *work) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; i++) sum ^= estimate_cost(work);
    return sum + mix(work, 50);
}

KEPT uint64_t plan_statement(struct work *work) {
    uint64_t sum = choose_path(work);
    return sum + mix(work, 250);
}

KEPT uint64_t write_log(struct work *work) {
    uint64_t sum = mix(work, 300);
    if (asked.source == IO) sum += sync_log(work);
    return sum + 1;
}

KEPT uint64_t flush_log(struct work *work) {
    uint64_t sum = write_log(work);
    return sum + mix(work, 50);
}

KEPT uint64_t release_locks(struct work *work) { return mix(work, 200); }

KEPT uint64_t commit_transaction(struct work *work) {
    uint64_t sum = flush_log(work);
    return sum + release_locks(work);
}

KEPT int transaction(unsigned command, const char *statement, struct work *work) {
    uint64_t sum = parse_statement(statement, work);
    sum += plan_statement(work);
    sum += execute_statement(work);
    sum += commit_transaction(work);
    return (int)(sum ^ command) & 0xff;
}
