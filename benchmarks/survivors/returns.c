/* Functions that read or change the addresses to which calls return, one kind in each of nine successive transactions,
 * and check what they read. Each transaction calls `maintain`; one of seven continues in its `.cold` part, and waits in
 * what that part calls. The first wrong result aborts. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* its longjmp refuses another stack */
#include "survivor.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <ucontext.h>

static const char *const names[] = {"transaction", "parse", "execute", "repair", 0};
enum { PARSE = 1, EXECUTE, REPAIR };
enum { ROWS = 3, STACK_SIZE = 65536, REPAIR_EVERY = 7, REPAIR_AT = 2, REPLACE_AT = 4, REPAIR_WAITS = 4 };

#define DEMAND(claim)                                                                                                  \
    do                                                                                                                 \
        if (!(claim)) fail(#claim, __LINE__);                                                                          \
    while (0)

__attribute__((noinline, noreturn, cold)) static void fail(const char *claim, int line) {
    fprintf(stderr, "returns.c:%d: false: %s\n", line, claim);
    abort();
}

/* Counted calls. A number counts one function. */
enum {
    FIND_NEXT,
    FAIL_ROW,
    LOOK_BACK,
    TAKE_CONTEXT,
    RETURN_ADDRESS,
    TAKE_ROW,
    YIELD_ROW,
    ENTER_THREAD,
    SERVE_ORDER,
    SUM_TABLE,
    TRIPLE,
    COUNTED
};
static uint64_t counts[COUNTED], maintained, repaired, amended, replaced;

/* Whether a return address lies in this function. Exact: the program is linked with -rdynamic. */
static int is_in(const void *address, const char *function) {
    Dl_info info;
    return dladdr((const char *)address - 1, &info) && info.dli_sname && !strcmp(info.dli_sname, function);
}

/* 0: dlsym looks behind the object of its caller. It sees the caller of find_next, which leaves by a jump to it. */
static void *next_getenv;

KEPT void *find_next(const char *name) {
    counts[FIND_NEXT]++;
    return dlsym(RTLD_NEXT, name);
}

KEPT void resolve(struct txn *t) {
    (void)t;
    DEMAND(find_next("getenv") == next_getenv);
    spin(1000);
}

/* 1: a longjmp leaves one function. */
static jmp_buf failed;
static int error_code;

KEPT void fail_row(void) {
    counts[FAIL_ROW]++;
    spin(1000);
    longjmp(failed, error_code);
}

KEPT void retry(struct txn *t) {
    error_code = 1 + (int)(t->number % 100);
    int code = setjmp(failed);
    if (!code) fail_row();
    DEMAND(code == error_code);
    spin(1000);
}

/* 2: backtrace unwinds the stack through four functions. */
KEPT void look_back(void) {
    void *frames[8];
    counts[LOOK_BACK]++;
    DEMAND(backtrace(frames, 8) >= 5);
    DEMAND(is_in(frames[0], "look_back") && is_in(frames[1], "trace") && is_in(frames[2], "execute"));
    DEMAND(is_in(frames[3], "transaction") && is_in(frames[4], "main"));
}

KEPT void trace(struct txn *t) {
    (void)t;
    look_back();
    spin(1000);
}

/* 3: getcontext stores the address to which it returns: that of take_context, which leaves by a jump to it. */
static int (*volatile const store_context)(ucontext_t *) = getcontext; /* a call by its name is never a jump */

KEPT int take_context(ucontext_t *context) {
    counts[TAKE_CONTEXT]++;
    return store_context(context);
}

KEPT void keep_context(struct txn *t) {
    (void)t;
    ucontext_t context;
    DEMAND(!take_context(&context));
    uintptr_t stack = (uintptr_t)context.uc_mcontext.gregs[REG_RSP], own = (uintptr_t)&context;
    DEMAND(is_in((const void *)context.uc_mcontext.gregs[REG_RIP], "keep_context"));
    DEMAND(stack <= own && own - stack < 4096);
}

/* 4: a function reads its own return address, called, and reached by a jump. */
KEPT const void *return_address(void) {
    counts[RETURN_ADDRESS]++;
    return __builtin_return_address(0);
}

KEPT const void *forwarded_address(void) { return return_address(); }

KEPT void read_caller(struct txn *t) {
    (void)t;
    DEMAND(is_in(return_address(), "read_caller"));
    DEMAND(is_in(forwarded_address(), "read_caller"));
    spin(1000);
}

/* 5: take_row and yield_row switch stacks, so that each is left after the other was entered. */
void switch_stacks(void **from, void *to);
__asm__(".pushsection .text\n"
        ".globl switch_stacks\n"
        ".type switch_stacks, @function\n"
        "switch_stacks:\n"
        "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "ret\n"
        ".size switch_stacks, .-switch_stacks\n"
        ".popsection\n");

static char other_stack[STACK_SIZE] __attribute__((aligned(64)));
static void *consumer, *producer;
static uint64_t first_row, row;

KEPT void yield_row(uint64_t value) {
    counts[YIELD_ROW]++;
    row = value;
    switch_stacks(&producer, consumer);
    spin(500);
}

KEPT void produce(void) {
    for (unsigned i = 0; i < ROWS; i++) yield_row(first_row + i);
    spin(500);
}

static void begin_producer(void) {
    produce();
    row = 0;
    switch_stacks(&producer, consumer);
    fail("the producer has ended", __LINE__);
}

KEPT uint64_t take_row(void) {
    counts[TAKE_ROW]++;
    switch_stacks(&consumer, producer);
    return row;
}

KEPT void consume(struct txn *t) {
    enum { SAVED = 6 }; /* registers, whose values do not matter at first */
    void **top = (void **)(other_stack + STACK_SIZE);
    *--top = 0; /* begin_producer has no caller */
    *--top = (void *)begin_producer;
    producer = top - SAVED;
    first_row = 1 + t->number % 1000;
    for (unsigned i = 0; i < ROWS; i++) DEMAND(take_row() == first_row + i);
    DEMAND(take_row() == 0);
}

/* 6: a thread as GNU Pth and State Threads make it: a signal handler on a stack of its own stores a context, returns,
 * and is entered again by longjmp. */
static char signal_stack[STACK_SIZE];
static jmp_buf thread, scheduler;
static uint64_t order, answer;

KEPT uint64_t serve_order(uint64_t number) {
    counts[SERVE_ORDER]++;
    spin(1000);
    return number * 3 + 1;
}

KEPT void enter_thread(int signal) {
    (void)signal;
    counts[ENTER_THREAD]++;
    if (!_setjmp(thread)) return;
    DEMAND((char *)__builtin_frame_address(0) > signal_stack);
    DEMAND((char *)__builtin_frame_address(0) < signal_stack + STACK_SIZE);
    answer = serve_order(order);
    _longjmp(scheduler, 1);
}

KEPT void run_thread(struct txn *t) {
    order = t->number;
    raise(SIGUSR1);
    if (!_setjmp(scheduler)) _longjmp(thread, 1);
    DEMAND(answer == order * 3 + 1);
    spin(1000);
}

/* 7: a table within a function, of bytes that would be `ret`, `ret 8`, `jmp`, `retf`, `pop; ret`, `rep ret`, a jump to
 * itself, and the beginning of an instruction that ends behind the table. */
enum { TABLE_SUM = 2320 };
uint64_t sum_table(void);
__asm__(".pushsection .text\n"
        ".globl sum_table\n"
        ".type sum_table, @function\n"
        "sum_table:\n"
        "xor %eax, %eax\n"
        "lea 1f(%rip), %rdx\n"
        "lea 2f(%rip), %rcx\n"
        "jmp 2f\n"
        "1: .byte 0xc3, 0xc2, 0x08, 0x00, 0xe9, 0x10, 0x00, 0x00, 0x00, 0xcb, 0x5d, 0xc3, 0xf3, 0xc3, 0xeb, 0xfe, 0x48, 0xb8\n"
        "2: movzbl (%rdx), %esi\n"
        "add %rsi, %rax\n"
        "inc %rdx\n"
        "cmp %rcx, %rdx\n"
        "jne 2b\n"
        "ret\n"
        ".size sum_table, .-sum_table\n"
        ".popsection\n");

KEPT void read_table(struct txn *t) {
    (void)t;
    counts[SUM_TABLE]++;
    DEMAND(sum_table() == TABLE_SUM);
    spin(1000);
}

/* 8: a function takes its return address off the stack and jumps there. */
uint64_t triple(uint64_t number);
__asm__(".pushsection .text\n"
        ".globl triple\n"
        ".type triple, @function\n"
        "triple:\n"
        "lea (%rdi,%rdi,2), %rax\n"
        "pop %rdx\n"
        "jmp *%rdx\n"
        ".size triple, .-triple\n"
        ".popsection\n");

KEPT void multiply(struct txn *t) {
    counts[TRIPLE]++;
    DEMAND(triple(t->number) == 3 * t->number);
    spin(1000);
}

static void (*volatile const kinds[])(struct txn *) = {resolve, retry,      trace,      keep_context, read_caller,
                                                       consume, run_thread, read_table, multiply};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What compilers move to the `.cold` part of a function: `maintain` continues in its hot part after that, and `amend`
 * goes there before it has a frame, and returns from there. */
__attribute__((cold)) KEPT uint64_t repair(struct txn *t, uint64_t value) {
    repaired++;
    spin(20000);
    sleep_ns(REPAIR_WAITS * extra_ns(t, REPAIR));
    return value ^ 0x5a;
}

__attribute__((cold)) KEPT uint64_t replace(uint64_t value) {
    replaced++;
    spin(2000);
    return value ^ 0xa5;
}

KEPT uint64_t amend(uint64_t number, uint64_t value) {
    amended++;
    if (__builtin_expect(number % REPAIR_EVERY == REPLACE_AT, 0)) value += replace(value) * 3;
    return value * 5 + 1;
}

KEPT uint64_t maintain(struct txn *t, uint64_t value) {
    maintained++;
    value = amend(t->number, value);
    if (__builtin_expect(t->number % REPAIR_EVERY == REPAIR_AT, 0)) {
        uint64_t repaired_value;
        CALL(t, REPAIR, repaired_value = repair(t, value));
        value += repaired_value * 3;
    }
    spin(500);
    return value + amend(t->number, t->number);
}

static uint64_t expected_amended(uint64_t number, uint64_t value) {
    return (number % REPAIR_EVERY == REPLACE_AT ? value + (value ^ 0xa5) * 3 : value) * 5 + 1;
}

static uint64_t expected_maintained(uint64_t number) {
    uint64_t amended_once = expected_amended(number, number);
    return (number % REPAIR_EVERY == REPAIR_AT ? amended_once + (amended_once ^ 0x5a) * 3 : amended_once) + amended_once;
}

KEPT void parse(struct txn *t) { work(t, PARSE); }

KEPT void execute(struct txn *t) {
    work(t, EXECUTE);
    kinds[t->number % KINDS](t);
    DEMAND(maintain(t, t->number) == expected_maintained(t->number));
    spin(2000);
}

KEPT void transaction(struct txn *t) {
    CALL(t, PARSE, parse(t));
    CALL(t, EXECUTE, execute(t));
    spin(2000);
}

/* Transactions whose number is `at` modulo `every`. */
static uint64_t turns(uint64_t every, uint64_t at) {
    uint64_t transactions = survivor_truth->transactions;
    return transactions > at ? (transactions - at - 1) / every + 1 : 0;
}

static void check_counts(void) {
    static const struct {
        unsigned kind, calls;
    } expected[COUNTED] = {
        [FIND_NEXT] = {0, 1},      [FAIL_ROW] = {1, 1},        [LOOK_BACK] = {2, 1},    [TAKE_CONTEXT] = {3, 1},
        [RETURN_ADDRESS] = {4, 2}, [TAKE_ROW] = {5, ROWS + 1}, [YIELD_ROW] = {5, ROWS}, [ENTER_THREAD] = {6, 1},
        [SERVE_ORDER] = {6, 1},    [SUM_TABLE] = {7, 1},       [TRIPLE] = {8, 1},
    };
    for (int f = 0; f < COUNTED; f++) DEMAND(counts[f] == expected[f].calls * turns(KINDS, expected[f].kind));
    DEMAND(maintained == survivor_truth->transactions);
    DEMAND(repaired == turns(REPAIR_EVERY, REPAIR_AT));
    DEMAND(amended == 2 * maintained);
    DEMAND(replaced == 2 * turns(REPAIR_EVERY, REPLACE_AT));
}

int main(int argc, char **argv) {
    survivor_start(argc, argv, names);
    void *frames[2];
    backtrace(frames, 2); /* the first call loads the unwinder */
    next_getenv = dlsym(RTLD_NEXT, "getenv");
    DEMAND(next_getenv);
    stack_t stack = {.ss_sp = signal_stack, .ss_size = STACK_SIZE};
    struct sigaction action = {.sa_handler = enter_thread, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, 0) || sigaction(SIGUSR1, &action, 0)) abort();
    RUN(transaction);
    check_counts();
    return survivor_end();
}
