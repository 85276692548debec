/* Exits other than the usual one: `route` leaves by a jump to one of two functions, `decode` has a jump table, and the
 * branch that decides for the end of `scan` is taken in each round of its loop. */
#include "survivor.h"

static const char *const names[] = {"transaction", "decode", "scan", "read_row", "write_row", 0};
enum { DECODE = 1, SCAN, READ_ROW, WRITE_ROW };
static volatile uint64_t decoded;

KEPT void decode(struct txn *t) {
    work(t, DECODE);
    uint64_t sum = t->number;
    for (unsigned i = 0; i < 40; i++) switch ((sum + i) % 8) {
        case 0: sum = sum * 3 + 1; break;
        case 1: sum ^= sum >> 3; break;
        case 2: decoded = sum; break;
        case 3: sum += decoded; break;
        case 4: sum = ~sum; break;
        case 5: spin(10); break;
        case 6: sum = sum << 7 | sum >> 57; break;
        case 7: decoded += i; break;
        }
    decoded = sum;
}

KEPT uint64_t scan(struct txn *t, uint64_t rows) {
    work(t, SCAN);
    uint64_t sum = 0;
    do {
        spin(100);
        sum += rows;
    } while (--rows);
    return sum;
}

/* Timed within, since their caller has left. */
KEPT uint64_t read_row(struct txn *t) {
    enter(t, READ_ROW);
    work(t, READ_ROW);
    leave(t, READ_ROW);
    return decoded;
}

KEPT uint64_t write_row(struct txn *t) {
    enter(t, WRITE_ROW);
    work(t, WRITE_ROW);
    leave(t, WRITE_ROW);
    return decoded + 1;
}

KEPT uint64_t route(struct txn *t, int writes) {
    spin(2000);
    return writes ? write_row(t) : read_row(t);
}

KEPT void transaction(struct txn *t) {
    CALL(t, DECODE, decode(t));
    CALL(t, SCAN, scan(t, 10 + t->number % 10));
    decoded += route(t, 0);
    decoded += route(t, 1);
    spin(2000);
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    RUN(transaction);
    return survivor_end();
}
