// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Entries and exits of functions in watched processes, as events. Every process that maps a probed file comes here;
 * those that are not watched are let go first.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MESSAGE_BYTES (4 << 20)
/* Above the greatest number of a process that Linux gives (its PID_MAX_LIMIT). */
#define PROCESSES (4 << 20)
#define LINE 64
#define MAX_THREADS 16384
#define MAX_COUNTED 65536
#define MAX_TEXTS 16384
#define TEXT_BYTES 120
#define TEXT_SEED 0xcbf29ce484222325ULL
#define TEXT_SPREAD 0x9e3779b97f4a7c15ULL
/* Another thread may come between on this CPU, and take the slot. */
#define CLAIMS 8
/* A frame less deep than this below another is on the same stack: guard pages and other stacks are further off. */
#define NEAR 4096
/* Frames of one thread whose return the kernel watches at the same time (its MAX_URETPROBE_DEPTH). */
#define MAX_DEPTH 64

enum { BPF_MAP_TYPE_LRU_HASH = 9 };
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { false, true };

/*
 * Kinds of records, as in tare-rings, and those that only events have; see event.rs. ENTER_FROM is an ENTER whose value
 * is a return address. Of an EXIT_AT or TAIL_AT the value is the address of the return address of the frame that ends.
 */
enum {
	ENTER = 1, EXIT = 2, BEGIN = 4, END = 7, LABEL = 8,
	SWITCH = 11, LANDING = 12, TAIL_AT = 13, ENTER_FROM = 14, EXIT_AT = 15
};
#define SUBJECT 0x0fffffffU
#define WORD(kind, subject) ((__u32)(kind) << 28 | ((__u32)(subject) & SUBJECT))

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

/* Cookies of probes on the run-time libraries. */
enum { CATCH, SWAP_CONTEXT, SET_CONTEXT };
/* uc_mcontext.gregs[REG_RSP] in glibc's ucontext_t on x86-64. */
#define SAVED_STACK_POINTER 160

/* The programs of a session return this where the return is not to be watched. */
enum { WATCH_RETURN, LET_GO };

/* See event.rs. */
struct event {
	__u64 time;
	__u64 value;
	__u64 cpu; /* time that the thread had had, ns; 0: not asked for */
	__u64 sp;  /* address of the return address at an entry; of a goroutine's, its complement to the stack's upper end */
	__u64 goroutine;
	__u32 tgid, tid;
	__u32 word; /* 0: not written yet */
	__u32 lost; /* records of this thread that found no room just before */
};

/* Messages are told apart by their size; see message.rs. */
struct text {
	__u32 hash;
	__u32 unused;
	char bytes[TEXT_BYTES];
};

enum { FORKED, REPLACED, ENDED, THREAD_ENDED };

struct life {
	__u64 time;
	__u32 what;
	__u32 tgid, parent; /* of THREAD_ENDED: which thread */
	__u32 unused;
};

/*
 * Each CPU has a ring of slots for events. The profiler has both maps in its memory, says how many slots a ring has, a
 * power of two, and counts those that it took; here those are counted that were claimed. See slots.rs.
 */
struct end {
	__u64 claimed;
	__u64 unused[LINE / 8 - 1];
	__u64 taken, size;
	__u64 unused_too[LINE / 8 - 2];
};

/* How many entries these two have the profiler says. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct end);
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, MESSAGE_BYTES);
} messages SEC(".maps");

/* A byte for each number that a process may have: 1 where it is watched. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROCESSES / LINE);
	__type(key, __u32);
	__type(value, __u8[LINE]);
} watched SEC(".maps");

struct loss {
	__u32 tgid, count;
};

/* By thread: records that found no room since its last one that did. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);
	__type(value, struct loss);
} losses SEC(".maps");

/* How many entries `losses` has, so that it is not looked up while there are none. */
static volatile __u32 losers;

/*
 * UNTOLD: lost records that are in no thread's stream. DEEP: calls let go since MAX_DEPTH frames are watched. ELSEWHERE:
 * calls let go since they are on another stack than the frame that was entered before.
 */
enum { UNTOLD, DEEP, ELSEWHERE, TALLIES };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TALLIES);
	__type(key, __u32);
	__type(value, __u64);
} tallies SEC(".maps");

/* Entries by the number that a counting probe's cookie is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_COUNTED);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

/* Hashes of the texts that were handed over. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_TEXTS);
	__type(key, __u32);
	__type(value, __u32);
} texts SEC(".maps");

/* When this CPU was last given to another task. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} switched SEC(".maps");

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

static __always_inline void tally(__u32 which, __u64 count)
{
	__u64 *value = bpf_map_lookup_elem(&tallies, &which);

	if (value)
		__sync_fetch_and_add(value, count);
}

static __always_inline __u8 *mark_of(__u32 tgid)
{
	__u32 line = tgid / LINE;
	__u8 *bytes = bpf_map_lookup_elem(&watched, &line);

	return bytes ? &bytes[tgid % LINE] : NULL;
}

static __always_inline bool is_watched(__u32 tgid)
{
	__u8 *mark = mark_of(tgid);

	return mark && *mark;
}

static __always_inline bool ours(void)
{
	return is_watched(bpf_get_current_task_btf()->tgid);
}

static __always_inline void lose(__u32 tgid, __u32 tid, __u32 count)
{
	struct loss *loss = bpf_map_lookup_elem(&losses, &tid), first = { .tgid = tgid, .count = count };

	if (loss) {
		loss->count = loss->count + count < count ? ~0U : loss->count + count;
	} else if (bpf_map_update_elem(&losses, &tid, &first, 0)) {
		tally(UNTOLD, count);
	} else {
		__sync_fetch_and_add(&losers, 1);
	}
}

/* A thread's entry is touched by itself only. */
static __always_inline __u32 lost_before(__u32 tid)
{
	struct loss *loss;
	__u32 count;

	if (!losers)
		return 0;
	loss = bpf_map_lookup_elem(&losses, &tid);
	if (!loss)
		return 0;
	count = loss->count;
	bpf_map_delete_elem(&losses, &tid);
	__sync_fetch_and_add(&losers, -1);
	return count;
}

/*
 * The scheduler books a running task's time at ticks and switches only: what it ran since it was given this CPU is
 * added to what it had run before. The time of interrupts and of other virtual machines in this stretch is not told
 * apart. It may be switched away meanwhile; then once more. Without a switch seen, the booked time stands.
 */
static __always_inline __u64 cpu_time(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 booked = 0, before, now, since;
	__u32 zero = 0;
	volatile __u64 *at = bpf_map_lookup_elem(&switched, &zero);

	for (int tries = 0; at && tries < 3; tries++) {
		since = *at;
		booked = *(volatile __u64 *)&task->se.sum_exec_runtime;
		before = *(volatile __u64 *)&task->se.prev_sum_exec_runtime;
		now = bpf_ktime_get_ns();
		if (*at != since)
			continue;
		if (!since || now < since || before + (now - since) < booked)
			return booked;
		return before + (now - since);
	}
	return booked;
}

/* The next slot of this CPU's ring; NULL where there is none. */
static __always_inline struct event *claim(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct end *end = bpf_map_lookup_elem(&ends, &cpu);
	__u64 claimed, size;

	if (!end)
		return NULL;
	size = end->size;
	for (int tries = 0; tries < CLAIMS; tries++) {
		claimed = *(volatile __u64 *)&end->claimed;
		if (claimed - *(volatile __u64 *)&end->taken >= size)
			return NULL;
		if (__sync_val_compare_and_swap(&end->claimed, claimed, claimed + 1) != claimed)
			continue;
		at = cpu * size + (claimed & (size - 1));
		return bpf_map_lookup_elem(&slots, &at);
	}
	return NULL;
}

/* Where a thread is: on which stack, and how deep. */
struct place {
	__u64 sp, goroutine;
};

/* False where there was no room; `more` records will then be missing besides this one. */
static __always_inline bool record(__u64 time, __u32 word, __u64 value, struct place at, bool cpu, __u32 more)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event *e = claim();

	if (!e) {
		lose(task->tgid, task->pid, 1 + cpu + more);
		return false;
	}
	e->time = time;
	e->value = value;
	e->cpu = cpu ? cpu_time() : 0;
	e->sp = at.sp;
	e->goroutine = at.goroutine;
	e->tgid = task->tgid;
	e->tid = task->pid;
	e->lost = lost_before(task->pid);
	/* Last, and x86-64 keeps the order of its writes: the profiler takes a slot that has a word. */
	barrier();
	*(volatile __u32 *)&e->word = word;
	return true;
}

/* As in tare-rings; 0 for a text that is not there. A text goes ahead of the first record that has its hash. */
static __noinline __u32 text_hash(__u64 address)
{
	/* The kernel puts a NUL behind even the longest, and leaves what is behind a NUL as it was. */
	struct {
		struct text text;
		__u64 beyond;
	} read;
	const __u64 *words = (const __u64 *)read.text.bytes;
	__u64 hash = TEXT_SEED;
	__u32 short_hash, one = 1;

	__builtin_memset(&read, 0, sizeof(read));
	if (!address || bpf_probe_read_user_str(read.text.bytes, TEXT_BYTES + 1, (void *)address) < 0)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TEXT_BYTES / 8 && words[i]; i++) {
		hash = (hash ^ words[i]) * TEXT_SPREAD;
		hash ^= hash >> 32;
	}
	short_hash = hash * TEXT_SPREAD >> 36;
	if (!short_hash)
		short_hash = 1;
	if (bpf_map_lookup_elem(&texts, &short_hash))
		return short_hash;
	read.text.hash = short_hash;
	/* One that found no room is handed over the next time. */
	if (!bpf_ringbuf_output(&messages, &read.text, sizeof(read.text), BPF_RB_NO_WAKEUP))
		bpf_map_update_elem(&texts, &short_hash, &one, 0);
	return short_hash;
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

	if (!ours())
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

	if (!ours() || (CONDITIONAL(exit) && !holds(ctx->flags, CONDITION(exit))))
		return 0;
	at = place_of(ctx, exit, (FROM_FRAME_POINTER(exit) ? frame : stack) + DISTANCE(exit));
	record(now, WORD(TAIL_CALL(exit) ? TAIL_AT : EXIT_AT, ID(exit)), at.sp, at, CPU(exit), 0);
	return 0;
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
	if (ours())
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
	__u32 number = bpf_get_attach_cookie(ctx);
	__u64 *value;

	if (!ours())
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
	if (ours())
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
