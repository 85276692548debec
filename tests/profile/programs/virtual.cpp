#include "burn.h"
#include <memory>
#include <vector>
struct Operator { virtual void next(int i) = 0; virtual ~Operator() = default; };
struct Source { F static void read() { burn(draw() % 8 == 0 ? 4000 : 100); } };
struct Scan : Operator { F void next(int) override { Source::read(); sink = sink + 1; } };
struct Filter : Operator { Operator *below; F Filter(Operator *b) : below(b) {} F void next(int i) override { burn(50); below->next(i); sink = sink + 1; } };
struct Join : Operator { Operator *left, *right; F Join(Operator *l, Operator *r) : left(l), right(r) {} F void next(int i) override { left->next(i); right->next(i); sink = sink + 1; } };
struct Values : Operator { F void next(int) override { burn(80); } };
static Operator *plan;
extern "C" F void txn(int i) { plan->next(i); burn(20); }
int main() { Scan s; Values v; Filter f(&s); Join j(&f, &v); plan = &j; for (int i = 0;; i++) { txn(i); usleep(3000); } }
