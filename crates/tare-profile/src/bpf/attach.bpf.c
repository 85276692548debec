// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Entries and exits of functions in watched processes, as events. Every process that maps a probed file comes here;
 * those that are not watched are let go first.
 */
#include "attach_records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What an entry tells, and where the cookie of a probe says so; see cookie.rs. */
enum { SITE, ARGUMENT, ARGUMENT_AND_TEXT, MARK };
#define ID(probe) ((probe) & SUBJECT)
#define DETAIL(probe) ((probe) >> 28 & 3)
#define ARGUMENT_NUMBER(probe) ((probe) >> 30 & 7)
#define TEXT_NUMBER(probe) ((probe) >> 33 & 7)
#define CPU(probe) ((probe) >> 36 & 1)
#define GOROUTINE(probe) ((probe) >> 37 & 1)

/* Bytes from the stack pointer to the return address. */
#define DISTANCE(probe) (((probe) >> 38 & 0xffff) << 3)

/* What the cookie of a place of exit says; see cookie.rs. */
#define FROM_FRAME_POINTER(exit) ((exit) >> 54 & 1)
#define CONDITIONAL(exit) ((exit) >> 55 & 1)
#define CONDITION(exit) ((exit) >> 56 & 15)
#define TAIL_CALL(exit) ((exit) >> 60 & 1)
#define LEAVES(probe) ((probe) >> 61 & 1)
/* Of every probe on a function. */
#define EPOCH(probe) ((probe) >> 62)

/* Cookies of probes on the run-time libraries. */
enum { CATCH, SWAP_CONTEXT, SET_CONTEXT };
/* uc_mcontext.gregs[REG_RSP] in glibc's ucontext_t on x86-64. */
#define SAVED_STACK_POINTER 160

/* A thread's registers as it entered the kernel; x86-64's published layout. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

/* Whether a probe's event in this process is to be heeded. */
static __always_inline bool heeded(__u64 probe)
{
	__u32 zero = 0, *now = bpf_map_lookup_elem(&epoch, &zero);

	return ours() && now && EPOCH(probe) == *now;
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
static __always_inline void mark(__u64 now, __u64 probe, struct place at, const __u64 *arguments)
{
	__u64 kind = arguments[0], id = arguments[1];
	__u32 label;

	kind = (__u32)kind;
	if (kind >= BEGIN && kind <= END) {
		record(now, WORD(kind, id >> 32), (__u32)id, at, CPU(probe));
	} else if (kind == LABEL) {
		label = text_hash(arguments[2]);
		if (label)
			record(now, WORD(LABEL, id), label, at, CPU(probe));
	}
}

static __always_inline int enter(struct pt_regs *ctx, __u64 now, __u64 probe)
{
	__u64 value = 0;
	__u64 frame = ctx->sp + DISTANCE(probe);
	__u32 detail = DETAIL(probe), word = WORD(ENTER, ID(probe));
	struct place at;

	at = place_of(ctx, probe, frame);
	if (detail == SITE) {
		word = WORD(ENTER_FROM, ID(probe));
		/* Where it cannot be read the site is not known: 0. */
		bpf_probe_read_user(&value, sizeof(value), (void *)frame);
	} else {
		__u64 arguments[8] = { ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9 };

		if (detail == MARK) {
			mark(now, probe, at, arguments);
			return 0;
		}
		value = (__u32)arguments[ARGUMENT_NUMBER(probe)];
		if (detail == ARGUMENT_AND_TEXT)
			value = (value & 15) | (__u64)text_hash(arguments[TEXT_NUMBER(probe)]) << 4;
	}
	record(now, word, value, at, CPU(probe));
	return 0;
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
static __always_inline int leave_at(struct pt_regs *ctx, __u64 now, __u64 exit)
{
	/* Both are read, each by itself: the kernel allows no computed place in a context. */
	__u64 stack = *(volatile unsigned long *)&ctx->sp, frame = *(volatile unsigned long *)&ctx->bp;
	struct place at;

	if (CONDITIONAL(exit) && !holds(ctx->flags, CONDITION(exit)))
		return 0;
	at = place_of(ctx, exit, (FROM_FRAME_POINTER(exit) ? frame : stack) + DISTANCE(exit));
	record(now, WORD(TAIL_CALL(exit) ? TAIL_AT : EXIT_AT, ID(exit)), at.sp, at, CPU(exit));
	return 0;
}

/* Both ends of a call. */
static __always_inline int call(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), probe = bpf_get_attach_cookie(ctx);

	if (!heeded(probe))
		return 0;
	return LEAVES(probe) ? leave_at(ctx, now, probe) : enter(ctx, now, probe);
}

/* Functions of the run-time libraries by which a thread comes to another frame without returning to it. */
static __always_inline int move(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), which = bpf_get_attach_cookie(ctx), sp = 0;
	__u64 first = *(volatile unsigned long *)&ctx->di, second = *(volatile unsigned long *)&ctx->si;
	struct place at = { .sp = ctx->sp };

	if (!ours())
		return 0;
	if (which == CATCH) {
		record(now, WORD(LANDING, 0), 0, at, false);
		return 0;
	}
	bpf_probe_read_user(&sp, sizeof(sp), (void *)(which == SWAP_CONTEXT ? second : first) + SAVED_STACK_POINTER);
	/* It returns there: its own frame's place, which is as deep as when it was saved. */
	record(now, WORD(SWITCH, which == SWAP_CONTEXT), sp - 8, at, false);
	return 0;
}

/* Linux 6.13. It is set in a trial alone: where it can be, links that are kept to a process are kept to all its threads. */
SEC("uprobe.session")
int on_session(struct pt_regs *ctx)
{
	return 1; /* its return is not watched */
}

/* Linux 6.6: a link for many places. */
SEC("uprobe.multi")
int on_call(struct pt_regs *ctx)
{
	return call(ctx);
}

SEC("uprobe.multi")
int on_move(struct pt_regs *ctx)
{
	return move(ctx);
}

static __always_inline int count(struct pt_regs *ctx)
{
	__u64 probe = bpf_get_attach_cookie(ctx), *value;
	__u32 number = probe;

	if (!heeded(probe))
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

/* Before: a link for each. */
SEC("uprobe")
int on_one_call(struct pt_regs *ctx)
{
	return call(ctx);
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
