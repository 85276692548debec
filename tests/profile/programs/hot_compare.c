#include <stdlib.h>
#include "burn.h"
/* A call of compare is shorter than any probe; one of order takes milliseconds. */
F static int compare(const void *a, const void *b) { burn(0); return *(const int *)a - *(const int *)b; }
F static void order(int *v, int n) { qsort(v, n, sizeof *v, compare); sink++; }
F void txn(void) { static int v[6000]; int n = 2000 + draw() % 4000; for (int k = 0; k < n; k++) v[k] = draw(); order(v, n); burn(30); }
int main(void) { for (;;) { txn(); usleep(3000); } }
