/* A spin lock that gives up after 1.2 us and sleeps for 4 ms: a probe within it makes whoever waits sleep. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

__attribute__((noinline)) void within(int n) {
  for (int i = 0; i < n; i++) sink += i;
}

__attribute__((noinline)) void outside(int n) {
  for (int i = 0; i < n; i++) sink ^= i;
}

__attribute__((noinline)) void transaction(void) {
  long begun = now_ns();
  within(100);
  if (now_ns() - begun > 1200) usleep(4000);
  outside(1000000);
}

static void *work(void *unused) {
  for (;;) {
    transaction();
    usleep(200);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < 2; i++) pthread_create(&thread, 0, work, 0);
  for (;;) pause();
}
