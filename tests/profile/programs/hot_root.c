/* Calls root() as fast as it can, and counts the calls in a file; serve() makes a thousand of them. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink;

__attribute__((noinline)) void root(uint64_t n) { sink += n; }

__attribute__((noinline)) void serve(volatile uint64_t *count) {
  for (int i = 0; i < 1000; i++) {
    root(i);
    ++*count;
  }
}

int main(int argc, char **argv) {
  int file = open(argc > 1 ? argv[1] : "/dev/null", O_RDWR | O_CREAT, 0600);
  if (ftruncate(file, sizeof(uint64_t))) return 1;
  volatile uint64_t *count = mmap(0, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) return 1;
  for (;;) serve(count);
}
