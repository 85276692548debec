// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * What processes ask of their operating system, summed up here by node, process and system call.
 *
 * Every thread is in one state and in one system call (or none) at a time. Each slice of its time is added to exactly
 * one sum when the state or the call changes, and by `settle` on request: whoever moves the thread's mark owns the
 * slice, so that the sums add up to the elapsed time whoever comes first.
 */
#include "os_payload.h"
#include "os_threads.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);
	__u64 now;

	if (!t) {
		__u32 node = node_of(task);

		if (!node)
			return 0;
		t = begin(task, node, ON_CPU, NO_CALL);
		if (!t)
			return 0;
		run(node, 1, bpf_ktime_get_ns());
	}
	now = bpf_ktime_get_ns();
	spend(t, task->tgid, slice(t, now));
	t->call = id;
	t->waited = 0;
	t->mapping = 0;
	t->added_end = 0;
	if ((id == WRITE || id == WRITEV || id == SENDTO || id == SENDMSG) && wants(MESSAGES)) {
		t->buffer = regs->si;
		t->count = regs->dx;
	}
	if (id == EXIT_GROUP || (id == EXIT && task->pid == task->tgid)) {
		__u32 tgid = task->tgid;
		struct process *process = bpf_map_lookup_elem(&processes, &tgid);
		struct mm_struct *mm = task->mm;

		if (process && mm)
			bpf_probe_read_user(process->title, sizeof(process->title), (void *)mm->arg_start);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);
	struct call_sum *sum;
	__u64 ns;

	if (!t || t->call == NO_CALL)
		return 0;
	ns = slice(t, bpf_ktime_get_ns());
	sum = call_sum(t->node, task->tgid, t->call);
	if (sum) {
		__sync_fetch_and_add(&sum->spent[ON_CPU], ns);
		sum->count++;
		if (ret > 0)
			sum->bytes += ret;
		else if (ret < 0 && ret >= -4095)
			sum->errors++;
	}
	t->call = NO_CALL;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	struct thread *t = traced(prev);

	if (t) {
		__u32 state = after_leaving(prev, preempt, prev_state);

		enter(t, prev->tgid, state);
		if (state == BLOCK_IO)
			t->waited = 1;
	}
	t = traced(next);
	if (t)
		enter(t, next->tgid, ON_CPU);
	return 0;
}

/* Off its CPU, and not ended. */
static __always_inline bool waits(struct thread *t)
{
	return t->state != ON_CPU && t->state < STATES;
}

/*
 * A switch is traced by whoever leaves, and some kernels run no program for some threads. Since Linux 6.17 whoever
 * comes says so too; it matters only where the switch was not traced.
 */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_arrival, bool switched)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = switched ? traced(task) : NULL;

	if (t && waits(t))
		enter(t, task->tgid, ON_CPU);
	return 0;
}

/* A wake-up before the switch-out finds the thread on its CPU: it never left. */
static __always_inline int woken(struct task_struct *task)
{
	struct thread *t = traced(task);

	if (t && waits(t))
		enter(t, task->tgid, RUN_QUEUE);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *t = traced(parent);

	if (t)
		begin(child, t->node, OTHER_WAIT, NO_CALL);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct process *process = bpf_map_lookup_elem(&processes, &tgid);

	if (process)
		bpf_probe_read_kernel_str(process->name, sizeof(process->name), task->comm);
	return 0;
}

/* Counts of the running process; NULL where it is not traced. */
static __always_inline struct process_sum *own_sum(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);

	return t ? process_sum(t->node, task->tgid) : NULL;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	struct process_sum *sum = own_sum();

	if (sum)
		sum->faults_user++;
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	struct process_sum *sum = own_sum();

	if (sum)
		sum->faults_kernel++;
	return 0;
}

#define PG_HEAD 6

static __always_inline __u64 pages_of(struct folio *folio)
{
	unsigned long flags;

	if (bpf_core_field_exists(folio->flags.f))
		flags = folio->flags.f;
	else
		flags = ((struct folio___flat *)folio)->flags;
	if (!(flags & (1UL << PG_HEAD)))
		return 1;
	if (bpf_core_field_exists(folio->_nr_pages))
		return BPF_CORE_READ(folio, _nr_pages);
	return BPF_CORE_READ((struct folio___older *)folio, _folio_nr_pages);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_add, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);
	struct process_sum *sum;
	__u64 first, end, pages;

	if (!t)
		return 0;
	pages = pages_of(folio);
	first = folio->index;
	end = first + pages;
	if (!t->added_end) {
		t->added_first = first;
		t->added_end = end;
	} else {
		if (first < t->added_first)
			t->added_first = first;
		if (end > t->added_end)
			t->added_end = end;
	}
	sum = process_sum(t->node, task->tgid);
	if (!sum)
		return 0;
	switch (t->call) {
	case WRITE:
	case PWRITE:
	case WRITEV:
	case PWRITEV:
	case PWRITEV2:
		sum->pages_written += pages;
		return 0;
	case NO_CALL:
		sum->pages_mapped += pages;
	}
	sum->pages_added += pages;
	return 0;
}

/* Ends each look of a buffered read into the page cache: pages that it brought in itself were added before. */
SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(on_get, struct address_space *mapping, unsigned long first, unsigned long last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);
	__u64 missed = 0, now, pages = last - first + 1;
	struct process_sum *sum;
	bool again;

	if (!t)
		return 0;
	sum = process_sum(t->node, task->tgid);
	if (!sum)
		return 0;
	if (t->added_end) {
		__u64 low = first > t->added_first ? first : t->added_first;
		__u64 high = last + 1 < t->added_end ? last + 1 : t->added_end;

		if (high > low)
			missed = high - low;
		t->added_end = 0;
	}
	sum->pages_missed += missed;
	/* A read of many pages looks several times, each time from where it has come to up to the same end. */
	again = t->mapping == (__u64)mapping && t->read_last == last && first > t->read_first;
	if (!again) {
		sum->pages_requested += pages;
		now = bpf_ktime_get_ns();
		count_in(t->node, task->tgid, READ_BYTES, pages * PAGE);
		if (t->read_at)
			count_in(t->node, task->tgid, READ_GAP, now - t->read_at);
		t->read_at = now;
		if (missed)
			sum->reads_missed++;
		else if (t->waited)
			sum->reads_in_flight++;
		else
			sum->reads_ready++;
	}
	if (t->waited && !missed)
		sum->pages_in_flight += again ? 0 : pages;
	t->waited = 0;
	t->mapping = (__u64)mapping;
	t->read_first = first;
	t->read_last = last;
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_queue, struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = traced(task);
	struct open_request request = {};
	struct process_sum *sum;
	struct process *process;
	struct activity *a;
	__u64 address = (__u64)bio, sector, bytes;
	__u32 tgid = task->tgid, operation;

	if (!t)
		return 0;
	operation = bio->bi_opf & 0xff;
	sector = bio->bi_iter.bi_sector;
	bytes = bio->bi_iter.bi_size;
	if (!bytes || operation > 1)
		return 0;
	sum = process_sum(t->node, tgid);
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (!sum || !process)
		return 0;
	if (operation == 0) {
		sum->block_reads++;
		sum->block_read_bytes += bytes;
		if (process->next_sector == sector)
			sum->block_read_sequential++;
		process->next_sector = sector + (bytes >> 9);
	} else {
		sum->block_writes++;
		sum->block_write_bytes += bytes;
	}
	count_in(t->node, tgid, operation ? BLOCK_WRITE_BYTES : BLOCK_READ_BYTES, bytes);
	request.at = bpf_ktime_get_ns();
	request.node = t->node;
	request.tgid = tgid;
	if (bpf_map_update_elem(&open_requests, &address, &request, BPF_NOEXIST)) {
		/* Its memory is used again: the end of the request before was not traced. */
		if (bpf_map_update_elem(&open_requests, &address, &request, 0))
			lose(LOST_REQUEST);
		return 0;
	}
	a = activity_of(t->node);
	if (a) {
		account(a, request.at);
		__sync_fetch_and_add(&a->open, 1);
	}
	return 0;
}

static __always_inline void complete(__u64 address)
{
	struct open_request *request = bpf_map_lookup_elem(&open_requests, &address);
	struct process_sum *sum;
	struct activity *a;
	__u64 now;

	if (!request)
		return;
	now = bpf_ktime_get_ns();
	sum = process_sum(request->node, request->tgid);
	if (sum)
		__sync_fetch_and_add(&sum->block_latency, now - request->at);
	count_in(request->node, request->tgid, BLOCK_LATENCY, now - request->at);
	a = activity_of(request->node);
	if (a) {
		account(a, now);
		__sync_fetch_and_add(&a->open, -1);
	}
	bpf_map_delete_elem(&open_requests, &address);
}

/* Devices without a queue of requests. */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(on_complete, struct request_queue *queue, struct bio *bio)
{
	complete((__u64)bio);
	return 0;
}

struct finished {
	struct bio *bio;
	__u64 bytes;
};

static long finish(__u64 number, struct finished *f)
{
	struct bio *bio = f->bio;
	__u64 bytes;

	if (!bio)
		return 1;
	bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	if (bytes > f->bytes)
		return 1; /* only a part of it is done */
	f->bytes -= bytes;
	complete((__u64)bio);
	f->bio = BPF_CORE_READ(bio, bi_next);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_done, struct request *rq, __u8 error, unsigned int bytes)
{
	struct finished f = {rq->bio, bytes};

	bpf_loop(1024, finish, &f, 0);
	return 0;
}

static __always_inline void fill_addresses(struct message *m, struct sock *sk)
{
	m->source_port = sk->__sk_common.skc_num;
	m->destination_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == AF_INET) {
		m->source = sk->__sk_common.skc_rcv_saddr;
		m->destination = sk->__sk_common.skc_daddr;
	} else {
		m->source = BPF_CORE_READ(sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[3]);
		m->destination = BPF_CORE_READ(sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32[3]);
	}
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t;
	struct process_sum *sum;
	struct message *m;
	__u16 family;
	__u64 now;

	if (ret <= 0)
		return 0;
	t = traced(task);
	if (!t)
		return 0;
	sum = process_sum(t->node, task->tgid);
	if (!sum)
		return 0;
	family = sk->__sk_common.skc_family;
	if (family == AF_UNIX) {
		sum->local_sends++;
		sum->local_sent_bytes += ret;
		return 0;
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	sum->sends++;
	sum->sent_bytes += ret;
	now = bpf_ktime_get_ns();
	count_in(t->node, task->tgid, SEND_BYTES, ret);
	if (t->sent_at)
		count_in(t->node, task->tgid, SEND_GAP, now - t->sent_at);
	t->sent_at = now;
	if (!wants(MESSAGES))
		return 0;
	m = bpf_ringbuf_reserve(&ring, sizeof(*m), 0);
	if (!m) {
		lose(LOST_MESSAGE);
		return 0;
	}
	m->time = now;
	m->node = t->node;
	m->tgid = task->tgid;
	m->bytes = ret;
	m->pad = 0;
	fill_addresses(m, sk);
	hash_payload(t, m);
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4)
		bpf_ringbuf_submit(m, BPF_RB_FORCE_WAKEUP);
	else
		bpf_ringbuf_submit(m, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	struct process_sum *sum = ret > 0 ? own_sum() : NULL;
	__u16 family;

	if (!sum)
		return 0;
	family = sk->__sk_common.skc_family;
	if (family == AF_UNIX) {
		sum->local_receives++;
		sum->local_received_bytes += ret;
	} else if (family == AF_INET || family == AF_INET6) {
		sum->receives++;
		sum->received_bytes += ret;
	}
	return 0;
}

/* Call that a sleeping thread is in; a page fault does not sleep so. */
static __always_inline __u32 call_in_progress(struct task_struct *task, __u32 state)
{
	struct pt_regs *regs;
	long number;

	if (state != SLEEP || !wants(CALLS))
		return NO_CALL;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = BPF_CORE_READ(regs, orig_ax);
	return number >= 0 && number < NO_CALL ? number : NO_CALL;
}

/* Takes the slice up to the moment, unless the thread's own slices have passed it. */
static __always_inline void settle_thread(struct thread *t, __u32 tgid)
{
	__u32 zero = 0;
	__u64 *until = bpf_map_lookup_elem(&moment, &zero), mark = t->mark;

	if (until && mark < *until && __sync_val_compare_and_swap(&t->mark, mark, *until) == mark)
		spend(t, tgid, *until - mark);
	flush_user(t, tgid);
}

/* Begins threads that have none yet, and accounts for all time of the others up to one moment. */
SEC("iter/task")
int settle(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;
	__u32 node, state;

	if (!task)
		return 0;
	t = traced(task);
	if (t) {
		if (t->state < STATES)
			settle_thread(t, task->tgid);
		return 0;
	}
	node = node_of(task);
	if (!node)
		return 0;
	state = looked_at(task, BPF_CORE_READ_BITFIELD(task, in_iowait));
	t = begin(task, node, state, call_in_progress(task, state));
	if (t && state == ON_CPU)
		run(node, 1, bpf_ktime_get_ns());
	return 0;
}
