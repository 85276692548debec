// The library that throws.cpp loads.
#include "survivor.h"

#include <stdexcept>

enum { REFUSES_AT = 7 };

KEPT void check_row(uint64_t row) {
    if (row % REFUSES_AT == 0) throw std::out_of_range("row refused");
    spin(1000);
}

extern "C" KEPT void scan(txn *t, uint64_t row, void (*on_batch)(txn *, uint64_t, void (*)(uint64_t))) {
    spin(2000);
    on_batch(t, row, check_row);
    spin(1000);
}
