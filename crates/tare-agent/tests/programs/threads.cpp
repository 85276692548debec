#include "begin.h"
#include <atomic>
#include <pthread.h>
#include <unistd.h>

static std::atomic<int> cleaned;
struct Guard {
    ~Guard() { cleaned++; }
};
extern "C" WATCHED int work(int x) { return x + 1; }
extern "C" WATCHED void leave(int x) {
    Guard guard;
    if (x) pthread_exit(nullptr);
}
extern "C" WATCHED void waits(void) {
    Guard guard;
    for (;;) usleep(1000);
}
extern "C" WATCHED void *worker(void *number) {
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum = work(sum);
    if ((long)number == 7) waits();
    leave((long)number % 2);
    return (void *)sum;
}

int main() {
    begin();
    for (int round = 0; round < 5; round++) {
        pthread_t threads[8];
        for (long i = 0; i < 8; i++) pthread_create(&threads[i], nullptr, worker, (void *)i);
        usleep(20000);
        pthread_cancel(threads[7]);
        for (auto thread : threads) pthread_join(thread, nullptr);
    }
    printf("%d\n", cleaned.load());
    return 0;
}
