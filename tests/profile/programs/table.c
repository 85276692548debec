#include "burn.h"
F static void culprit(void) { burn(draw() % 8 == 0 ? 4000 : 100); }
F static void variant_a(void) { culprit(); sink++; }
F static void variant_b(void) { burn(200); }
F static void variant_c(void) { burn(250); }
static void (*const table[])(void) = {variant_a, variant_b, variant_c};
F static void level2(int i) { burn(10); table[i % 3](); table[(i + 1) % 3](); table[(i + 2) % 3](); sink++; }
F static void level1(int i) { level2(i); sink++; }
F void txn(int i) { level1(i); burn(50); }
int main(void) { for (int i = 0;; i++) { txn(i); usleep(3000); } }
