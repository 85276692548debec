#include <stdlib.h>
#include "burn.h"
F static int slow(int a, int b) { burn(draw() % 40 == 0 ? 2000 : 20); return a - b; }
F static int compare(const void *a, const void *b) { int r = slow(*(const int *)a, *(const int *)b); sink++; return r; }
F static int other(const void *a, const void *b) { burn(5); return *(const int *)b - *(const int *)a; }
F static void order(int *v, int n, int i) { burn(10); qsort(v, n, sizeof *v, i % 2 ? compare : other); sink++; }
F void txn(int i) { int v[8]; for (int k = 0; k < 8; k++) v[k] = draw(); order(v, 8, i); order(v, 8, i + 1); burn(30); }
int main(void) { for (int i = 0;; i++) { txn(i); usleep(3000); } }
