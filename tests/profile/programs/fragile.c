/* Four threads take one lock for each transaction. On SIGUSR1 the next that has it ends without giving it back, so that
   the others wait for ever; on SIGUSR2 it aborts. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t asked;
static volatile unsigned long sink;

static void ask(int number) { asked = number; }

__attribute__((noinline)) void within(int n) {
  for (int i = 0; i < n; i++) sink += i;
}

__attribute__((noinline)) void transaction(void) {
  pthread_mutex_lock(&lock);
  if (asked == SIGUSR1) pthread_exit(0);
  within(100000);
  if (asked == SIGUSR2) abort();
  pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
  for (;;) {
    transaction();
    usleep(3000);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  signal(SIGUSR1, ask);
  signal(SIGUSR2, ask);
  for (int i = 0; i < 4; i++) pthread_create(&thread, 0, work, 0);
  for (;;) pause();
}
