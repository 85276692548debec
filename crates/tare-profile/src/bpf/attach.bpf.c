// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Entries and exits of functions in watched processes, as events. Every process that maps a probed file comes here;
 * those that are not watched are let go first.
 */
#include "attach_records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A frame less deep than this below another is on the same stack: guard pages and other stacks are further off. */
#define NEAR 4096
/* Frames of one thread whose return the kernel watches at the same time (its MAX_URETPROBE_DEPTH). */
#define MAX_DEPTH 64

/* What an entry tells, and where the cookie of a probe says so; see cookie.rs. */
enum { SITE, ARGUMENT, ARGUMENT_AND_TEXT, MARK };
#define ID(probe) ((probe) & SUBJECT)
#define DETAIL(probe) ((probe) >> 28 & 3)
#define ARGUMENT_NUMBER(probe) ((probe) >> 30 & 7)
#define TEXT_NUMBER(probe) ((probe) >> 33 & 7)
#define CPU(probe) ((probe) >> 36 & 1)
#define GOROUTINE(probe) ((probe) >> 37 & 1)

/* What the cookie of a place of exit says; see cookie.rs. */
#define DISTANCE(exit) (((exit) >> 38 & 0xffff) << 3)
#define FROM_FRAME_POINTER(exit) ((exit) >> 54 & 1)
#define CONDITIONAL(exit) ((exit) >> 55 & 1)
#define CONDITION(exit) ((exit) >> 56 & 15)
#define TAIL_CALL(exit) ((exit) >> 60 & 1)

/* What every cookie says; see cookie.rs. */
#define EPOCH(cookie) ((cookie) >> 61)

/* Cookies of probes on the run-time libraries. */
enum { CATCH, SWAP_CONTEXT, SET_CONTEXT };
/* uc_mcontext.gregs[REG_RSP] in glibc's ucontext_t on x86-64. */
#define SAVED_STACK_POINTER 160

/* The programs of a session return this where the return is not to be watched. */
enum { WATCH_RETURN, LET_GO };

/* A thread's registers as it entered the kernel; x86-64's published layout. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct return_instance {
	unsigned long stack; /* of the frame: the address of its return address */
};

struct uprobe_task {
	struct return_instance *return_instances; /* the last one entered first */
	unsigned int depth;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
};

struct task_struct___probed {
	struct uprobe_task *utask;
};

#pragma clang attribute pop

/* Whether an event is of a probe that is set now, in a watched process. */
static __always_inline bool wanted(__u64 cookie)
{
	__u32 zero = 0, *now = bpf_map_lookup_elem(&epoch, &zero);

	return ours() && now && EPOCH(cookie) == *now;
}

/*
 * Goroutines have their `g` in r14 (Go's internal ABI), and its stack's upper end is its second word. Stacks move, so
 * places on them are counted from that end; the complement keeps the order of addresses.
 */
static __always_inline struct place place_of(struct pt_regs *ctx, __u64 probe, __u64 sp)
{
	struct place at = { .sp = sp };
	__u64 end = 0;

	if (GOROUTINE(probe)) {
		at.goroutine = ctx->r14;
		bpf_probe_read_user(&end, sizeof(end), (void *)(ctx->r14 + 8));
		at.sp = ~(end - sp);
	}
	return at;
}

/* The call of an annotation's marker function becomes the record that it asks for. */
static __always_inline int mark(__u64 now, __u64 probe, struct place at, const __u64 *arguments)
{
	__u64 kind = arguments[0], id = arguments[1];
	__u32 label;

	kind = (__u32)kind;
	if (kind >= BEGIN && kind <= END) {
		record(now, WORD(kind, id >> 32), (__u32)id, at, CPU(probe), 0);
	} else if (kind == LABEL) {
		label = text_hash(arguments[2]);
		if (label)
			record(now, WORD(LABEL, id), label, at, CPU(probe), 0);
	}
	return LET_GO;
}

/* How many frames of this thread have their return watched. */
static __always_inline __u32 depth(void)
{
	struct task_struct___probed *task = (void *)bpf_get_current_task_btf();

	return task->utask->depth;
}

struct stretch {
	__u64 address;
	bool inside;
};

static long look(struct task_struct *task, struct vm_area_struct *area, struct stretch *stretch)
{
	stretch->inside = area->vm_start <= stretch->address && stretch->address < area->vm_end;
	return 0;
}

/*
 * The kernel takes the frames of a thread for those of one stack. Where the last one entered is not above this one, it
 * either was left by a longjmp, which the kernel finds out by itself, or is on another stack, as in a signal's handler
 * on an alternate one: the kernel would end the process when that returns.
 */
static __always_inline bool elsewhere(unsigned long sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct uprobe_task *probed = BPF_CORE_READ((struct task_struct___probed *)task, utask);
	struct return_instance *last = probed ? BPF_CORE_READ(probed, return_instances) : NULL;
	struct stretch stretch = {};

	if (!last)
		return false;
	stretch.address = BPF_CORE_READ(last, stack);
	if (sp < stretch.address && stretch.address - sp < NEAR)
		return false;
	return bpf_find_vma(task, sp, look, &stretch, 0) || !stretch.inside;
}

static __always_inline int enter(struct pt_regs *ctx, bool session)
{
	__u64 now = bpf_ktime_get_ns(), probe = bpf_get_attach_cookie(ctx), value = 0;
	__u32 detail = DETAIL(probe), word = WORD(ENTER, ID(probe));
	struct place at;

	if (!wanted(probe))
		return LET_GO;
	if (session && elsewhere(ctx->sp)) {
		tally(ELSEWHERE, 1);
		return LET_GO;
	}
	/* The kernel will not watch its return: without an exit it would seem to last. */
	if (session && depth() >= MAX_DEPTH) {
		tally(DEEP, 1);
		return LET_GO;
	}
	at = place_of(ctx, probe, ctx->sp);
	if (detail == SITE) {
		word = WORD(ENTER_FROM, ID(probe));
		/* Where it cannot be read the site is not known: 0. */
		bpf_probe_read_user(&value, sizeof(value), (void *)ctx->sp);
	} else {
		__u64 arguments[8] = { ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9 };

		if (detail == MARK)
			return mark(now, probe, at, arguments);
		value = (__u32)arguments[ARGUMENT_NUMBER(probe)];
		if (detail == ARGUMENT_AND_TEXT)
			value = (value & 15) | (__u64)text_hash(arguments[TEXT_NUMBER(probe)]) << 4;
	}
	/* An exit whose entry is not there says nothing. */
	return record(now, word, value, at, CPU(probe), session ? 1 + CPU(probe) : 0) ? WATCH_RETURN : LET_GO;
}

static __always_inline void leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), probe = bpf_get_attach_cookie(ctx);
	struct place at = { .sp = ctx->sp };

	if (!wanted(probe))
		return;
	record(now, WORD(EXIT, ID(probe)), 0, at, CPU(probe), 0);
}

/* Whether a conditional jump is taken: the processor's codes, of which the lowest bit inverts. */
static __always_inline bool holds(unsigned long flags, __u32 condition)
{
	bool carry = flags & 0x1, parity = flags & 0x4, zero = flags & 0x40, sign = flags & 0x80, over = flags & 0x800;
	bool is;

	switch (condition >> 1) {
	case 0: is = over; break;
	case 1: is = carry; break;
	case 2: is = zero; break;
	case 3: is = carry || zero; break;
	case 4: is = sign; break;
	case 5: is = parity; break;
	case 6: is = sign != over; break;
	default: is = zero || sign != over; break;
	}
	return is != (condition & 1);
}

/* A place at which a function leaves. */
static __always_inline int leave_at(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), exit = bpf_get_attach_cookie(ctx);
	/* Both are read, each by itself: the kernel allows no computed place in a context. */
	__u64 stack = *(volatile unsigned long *)&ctx->sp, frame = *(volatile unsigned long *)&ctx->bp;
	struct place at;

	if (!wanted(exit) || (CONDITIONAL(exit) && !holds(ctx->flags, CONDITION(exit))))
		return 0;
	at = place_of(ctx, exit, (FROM_FRAME_POINTER(exit) ? frame : stack) + DISTANCE(exit));
	record(now, WORD(TAIL_CALL(exit) ? TAIL_AT : EXIT_AT, ID(exit)), at.sp, at, CPU(exit), 0);
	return 0;
}

/* Functions of the run-time libraries by which a thread comes to another frame without returning to it. */
static __always_inline int move(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(ctx), sp = 0;
	__u32 which = cookie;
	__u64 first = *(volatile unsigned long *)&ctx->di, second = *(volatile unsigned long *)&ctx->si;
	struct place at = { .sp = ctx->sp };

	if (!wanted(cookie))
		return 0;
	if (which == CATCH) {
		record(now, WORD(LANDING, 0), 0, at, false, 0);
		return 0;
	}
	bpf_probe_read_user(&sp, sizeof(sp), (void *)(which == SWAP_CONTEXT ? second : first) + SAVED_STACK_POINTER);
	/* It returns there: its own frame's place, which is as deep as when it was saved. */
	record(now, WORD(SWITCH, which == SWAP_CONTEXT), sp - 8, at, false, 0);
	return 0;
}

/*
 * Linux 6.13: one program for both ends, and a return is watched only where the entry asks for it. At the entry the
 * thread stands at the function; no function returns to its own first instruction.
 */
SEC("uprobe.session")
int on_call(struct pt_regs *ctx)
{
	if (ctx->ip == bpf_get_func_ip(ctx))
		return enter(ctx, true);
	leave(ctx);
	return 0;
}

/* Linux 6.6: a link for each end. */
SEC("uprobe.multi")
int on_entry(struct pt_regs *ctx)
{
	enter(ctx, false);
	return 0;
}

SEC("uretprobe.multi")
int on_return(struct pt_regs *ctx)
{
	leave(ctx);
	return 0;
}

SEC("uprobe.multi")
int on_exit(struct pt_regs *ctx)
{
	return leave_at(ctx);
}

SEC("uprobe.multi")
int on_move(struct pt_regs *ctx)
{
	return move(ctx);
}

static __always_inline int count(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), *value;
	__u32 number = cookie;

	if (!wanted(cookie))
		return 0;
	value = bpf_map_lookup_elem(&calls, &number);
	/* Another thread may take this CPU between reading and writing. */
	if (value)
		__sync_fetch_and_add(value, 1);
	return 0;
}

SEC("uprobe.multi")
int on_count(struct pt_regs *ctx)
{
	return count(ctx);
}

/* Before: a link a function and end. */
SEC("uprobe")
int on_one_entry(struct pt_regs *ctx)
{
	enter(ctx, false);
	return 0;
}

SEC("uretprobe")
int on_one_return(struct pt_regs *ctx)
{
	leave(ctx);
	return 0;
}

SEC("uprobe")
int on_one_exit(struct pt_regs *ctx)
{
	return leave_at(ctx);
}

SEC("uprobe")
int on_one_move(struct pt_regs *ctx)
{
	return move(ctx);
}

SEC("uprobe")
int on_one_count(struct pt_regs *ctx)
{
	return count(ctx);
}

SEC("tp_btf/sched_switch")
int on_switch(void *ctx)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(&switched, &zero);

	if (value)
		*value = bpf_ktime_get_ns();
	return 0;
}

/* Where it finds no room the reader asks /proc. */
static __always_inline void tell(__u32 what, __u32 tgid, __u32 parent)
{
	struct life life = { .time = bpf_ktime_get_ns(), .what = what, .tgid = tgid, .parent = parent };

	bpf_ringbuf_output(&messages, &life, sizeof(life), BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid, from = parent->tgid;
	__u8 *mark = mark_of(tgid);

	if (tgid == from || !mark || !is_watched(from))
		return 0;
	*mark = 1;
	tell(FORKED, tgid, from);
	return 0;
}

/* Another program is somewhere else in memory. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	if (is_watched(task->tgid))
		tell(REPLACED, task->tgid, 0);
	return 0;
}

/* Its number may soon be another process's. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct *task)
{
	__u8 *mark = mark_of(task->tgid);

	if (!mark || !*mark)
		return 0;
	if (task->signal->live.counter) {
		tell(THREAD_ENDED, task->tgid, task->pid);
		return 0;
	}
	*mark = 0;
	tell(ENDED, task->tgid, 0);
	return 0;
}
