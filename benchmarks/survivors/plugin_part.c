/* The library that plugin.c loads. */
#include "survivor.h"

KEPT void plugin_step(uint64_t ns) {
    spin(20000);
    if (ns) sleep_ns(ns);
}
