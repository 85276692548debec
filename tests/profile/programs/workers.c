#include "burn.h"
F static void culprit(void) { burn(draw() % 8 == 0 ? 4000 : 100); }
F void txn(int i) { culprit(); burn(50); }
int main(void) { for (int c = 0; c < 3; c++) if (!fork()) for (int i = 0;; i++) { if (getppid() == 1) _exit(0); txn(i); usleep(5000); } for (;;) pause(); }
