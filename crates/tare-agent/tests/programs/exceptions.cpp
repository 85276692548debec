#include "begin.h"
#include <stdexcept>
#include <string>

static int destroyed;
extern "C" WATCHED void note(void) { destroyed++; }
struct Guard {
    ~Guard() { note(); }
};
extern "C" WATCHED int thrower(int x) {
    Guard guard;
    if (x % 2) throw std::runtime_error(std::to_string(x));
    return x;
}
extern "C" WATCHED int between(int x) {
    Guard guard;
    return thrower(x) + 1;
}
extern "C" WATCHED int rethrower(int x) {
    try {
        return between(x);
    } catch (const std::runtime_error &) {
        note();
        throw;
    }
}
extern "C" WATCHED int catcher(int x) {
    Guard guard;
    try {
        return rethrower(x);
    } catch (const std::exception &error) {
        return -std::stoi(error.what());
    }
}
extern "C" WATCHED int outer(int x) { return catcher(x) + 1; }

int main() {
    begin();
    long sum = 0;
    for (int i = 0; i < 1000; i++) sum += outer(i);
    printf("%ld %d\n", sum, destroyed);
    return 0;
}
