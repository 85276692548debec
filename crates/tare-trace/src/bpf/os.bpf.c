// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Counts for each thread of the observed processes: where its time goes, its system calls, its use of the page cache,
 * its block requests and its messages. Threads that are not observed leave each program after one look-up.
 */
#include "os.h"
#include "os_messages.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	struct thread *t = thread_of(prev);

	if (t && t->state != ENDED) {
		__u32 state = after_leaving(prev, preempt, prev_state);

		/* Reads and faults wait for a disk in another way; calls settle at their end. */
		if (state == SLEEP && !t->entered)
			settle(t);
		enter(t, state);
	}
	t = thread_of(next);
	if (t && t->state != ENDED)
		enter(t, ON_CPU);
	return 0;
}

/* Some kernels run no program on some switches; since Linux 6.17 whoever comes says so too. */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_arrival, bool switched)
{
	struct thread *t;

	if (!switched)
		return 0;
	t = this_thread();
	if (t && t->state != ON_CPU && t->state != ENDED)
		enter(t, ON_CPU);
	return 0;
}

/* A wake-up before the switch-out finds the thread on its CPU: it never left, and there is nothing to note. */
static __always_inline int woken(struct task_struct *task)
{
	struct thread *t = thread_of(task);

	if (t && !task->on_cpu && t->state != ON_CPU && t->state != RUN_QUEUE && t->state != ENDED)
		enter(t, RUN_QUEUE);
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
	struct thread *t = thread_of(parent);
	__u32 tgid = parent->tgid, *node;

	if (t) {
		see(child, t->node, SLEEP);
		return 0;
	}
	/* A process that the first look has not reached yet. */
	node = bpf_map_lookup_elem(&processes, &tgid);
	if (node)
		see(child, *node, SLEEP);
	return 0;
}

static __always_inline void copy(struct record *r, struct task_struct *task, struct thread *t)
{
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->node = t->node;
	keep(&r->kept, task);
	r->slice = r->kept.run - task->se.prev_sum_exec_runtime;
	__builtin_memcpy(r->comm, task->comm, sizeof(r->comm));
	__builtin_memset(r->title, 0, sizeof(r->title));
	r->thread = *t;
	r->state = r->thread.state;
	r->now = bpf_ktime_get_ns();
	r->io_clock_now = busy_clock(r->now);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	struct record *r;
	struct mm_struct *mm;

	if (!t || t->state == ENDED)
		return 0;
	r = bpf_ringbuf_reserve(&ended, sizeof(*r), 0);
	if (!r) {
		lose(LOST_THREADS);
		return 0;
	}
	settle(t);
	copy(r, task, t);
	r->ended = 1;
	mm = task->mm;
	if (mm) {
		__u64 length = mm->arg_end - mm->arg_start;

		if (length > TITLE)
			length = TITLE;
		bpf_probe_read_user(r->title, length, (void *)mm->arg_start);
	}
	bpf_ringbuf_submit(r, 0);
	t->state = ENDED;
	return 0;
}

/* System calls ------------------------------------------------------------------------------------------------ */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long id)
{
	struct thread *t = this_thread();

	if (!t || !t->first)
		return 0;
	settle(t);
	t->begun++;
	barrier();
	__builtin_memcpy(t->base, t->spent, sizeof(t->base));
	t->call = id;
	t->buffer = regs->si;
	t->length = regs->dx;
	t->waited = t->spent[BLOCK_IO];
	t->entered = bpf_ktime_get_ns();
	barrier();
	t->done++;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	struct thread *t = this_thread();
	struct call fresh = {}, *c;
	struct call_key key;
	__u64 off = 0, wall;

	if (!t || !t->entered)
		return 0;
	settle(t);
	wall = bpf_ktime_get_ns() - t->entered;
	key.tid = bpf_get_current_pid_tgid();
	key.call = t->call;
	c = bpf_map_lookup_elem(&calls, &key);
	if (!c) {
		bpf_map_update_elem(&calls, &key, &fresh, 0);
		c = bpf_map_lookup_elem(&calls, &key);
	}
	if (!c)
		lose(LOST_CALLS);
	for (int state = ON_CPU + 1; state < STATES; state++) {
		__u64 spent = t->spent[state] - t->base[state];

		off += spent;
		if (c)
			c->spent[state] += spent;
	}
	wall = wall > off ? wall - off : 0;
	if (c) {
		c->count++;
		c->spent[ON_CPU] += wall;
		if (result > 0)
			c->result += result;
		else if (result < 0)
			c->errors++;
	}
	t->begun++;
	barrier();
	t->system += wall;
	t->entered = 0;
	if (c)
		t->returned++;
	barrier();
	t->done++;
	return 0;
}

/* Page cache -------------------------------------------------------------------------------------------------- */
/* Accounts for pages [first, last] of a file that the thread asked for. */
static __always_inline void got_pages(struct address_space *mapping, __u64 first, __u64 last, bool is_recorded)
{
	struct thread *t = this_thread();
	__u64 place = (__u64)mapping, missed = 0, in_flight = 0;
	struct read *r;
	bool more;

	if (!t || !t->first)
		return;
	/* A long read gets its pages in batches, each from where the one before ended. */
	more = place == t->mapping && last == t->last_page && first > t->first_page && t->read_call == t->entered;
	if (!more) {
		t->reads++;
		t->requested += last - first + 1;
	}
	/* Read-ahead may begin far beyond the request. */
	if (t->added && t->added_mapping == place) {
		__u64 from = t->added_from > first ? t->added_from : first;
		__u64 to = t->added_to < last + 1 ? t->added_to : last + 1;

		missed = to > from ? to - from : 0;
		if (missed > t->added)
			missed = t->added;
		t->missed += missed;
		t->ahead += t->added - missed + t->beyond;
		t->added = t->beyond = 0;
	}
	settle(t);
	/* Nothing was brought in, and yet the disk was waited for: the pages were on their way. */
	if (!missed && !more && t->spent[BLOCK_IO] > t->waited)
		in_flight = last - first + 1;
	t->in_flight += in_flight;
	t->waited = t->spent[BLOCK_IO];
	t->mapping = place;
	t->first_page = first;
	t->last_page = last;
	t->read_call = t->entered;
	if (!is_recorded || (more && !missed))
		return;
	r = bpf_ringbuf_reserve(&reads, sizeof(*r), 0);
	if (!r) {
		lose(LOST_READS);
		return;
	}
	r->at = bpf_ktime_get_ns();
	r->inode = mapping->host->i_ino;
	r->device = mapping->host->i_sb->s_dev;
	r->page = first;
	/* A further batch was requested with the first one: it only says what was missed. */
	r->pages = more ? 0 : last - first + 1;
	r->missed = missed;
	r->in_flight = in_flight;
	r->tid = (__s32)bpf_get_current_pid_tgid();
	r->node = t->node;
	bpf_ringbuf_submit(r, 0);
}

SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(on_read, struct address_space *mapping, unsigned long first, unsigned long last)
{
	got_pages(mapping, first, last, 0);
	return 0;
}

SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(on_read_of_file, struct address_space *mapping, unsigned long first, unsigned long last)
{
	got_pages(mapping, first, last, 1);
	return 0;
}

/* Pages from here on are this fault's, not an earlier one's, and no read is in progress. */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(on_fault, struct address_space *mapping, unsigned long page)
{
	struct thread *t = this_thread();

	if (t)
		settle(t);
	return 0;
}

static __always_inline __u64 pages_of(struct folio *folio)
{
	unsigned long flags;

	if (bpf_core_field_exists(folio->flags.f))
		flags = folio->flags.f;
	else
		flags = ((struct folio___plain *)folio)->flags;
	if (!(flags & (1UL << bpf_core_enum_value(enum pageflags, PG_head))))
		return 1;
	if (bpf_core_field_exists(folio->_nr_pages))
		return folio->_nr_pages;
	return ((struct folio___older *)folio)->_folio_nr_pages;
}

static __always_inline bool writes(__u32 call)
{
	/* write, pwrite64, writev, pwritev, pwritev2: they make pages, and bring none in. */
	return call == 1 || call == 18 || call == 20 || call == 296 || call == 328;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_added, struct folio *folio)
{
	struct thread *t = this_thread();
	__u64 from, pages, place;

	if (!t || !t->first || (t->entered && writes(t->call)))
		return 0;
	from = folio->index;
	pages = pages_of(folio);
	place = (__u64)folio->mapping;
	if (t->added && t->added_mapping != place)
		settle(t);
	if (t->added && (from > t->added_to || from + pages < t->added_from)) {
		t->beyond += pages;
		return 0;
	}
	if (!t->added) {
		t->added_mapping = place;
		t->added_from = from;
		t->added_to = from + pages;
	} else {
		if (from < t->added_from)
			t->added_from = from;
		if (from + pages > t->added_to)
			t->added_to = from + pages;
	}
	t->added += pages;
	return 0;
}

/* Block requests ---------------------------------------------------------------------------------------------- */
static __always_inline void outstanding(int change, __u64 now)
{
	__u32 zero = 0;
	struct busy *b = bpf_map_lookup_elem(&busy, &zero);
	__s64 before;

	if (!b)
		return;
	before = __sync_fetch_and_add(&b->outstanding, change);
	if (!before && change > 0)
		b->since = now;
	else if (before == 1 && change < 0)
		__sync_fetch_and_add(&b->total, now - b->since);
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_submit, struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct done_request request = {};
	__u64 key = (__u64)rq;

	/* A request without data is a flush. */
	if (!rq->__data_len || (!t && !(task->flags & PF_KTHREAD)))
		return 0;
	request.submitted = bpf_ktime_get_ns();
	request.write = rq->cmd_flags & 1;
	request.tid = task->pid;
	request.node = t ? (__s32)t->node : -1;
	if (rq->part)
		request.device = rq->part->bd_dev;
	if (bpf_map_update_elem(&requests, &key, &request, 0))
		lose(LOST_DISK);
	else if (t)
		outstanding(1, request.submitted);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct done_request *request = bpf_map_lookup_elem(&requests, &key);

	if (!request)
		return 0;
	if (!request->issued)
		request->issued = bpf_ktime_get_ns();
	request->bytes = rq->__data_len;
	request->sector = rq->__sector;
	return 0;
}

static __always_inline int forget(struct request *rq, bool is_done)
{
	__u64 key = (__u64)rq, now;
	struct done_request *request = bpf_map_lookup_elem(&requests, &key), *out;

	if (!request)
		return 0;
	now = bpf_ktime_get_ns();
	if (request->node >= 0)
		outstanding(-1, now);
	if (is_done) {
		out = bpf_ringbuf_reserve(&done_requests, sizeof(*out), 0);
		if (out) {
			*out = *request;
			out->done = now;
			if (!out->issued)
				out->issued = now;
			bpf_ringbuf_submit(out, 0);
		} else {
			lose(LOST_DISK);
		}
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

SEC("tp_btf/block_io_done")
int BPF_PROG(on_done, struct request *rq)
{
	return forget(rq, 1);
}

/* `rq` continues as part of another one, and has no end of its own. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_merge, struct request *rq)
{
	return forget(rq, 0);
}

/* Sockets ----------------------------------------------------------------------------------------------------- */
static __always_inline struct thread *account(struct sock *sk, int bytes, __u32 what)
{
	struct thread *t;
	__u32 place;

	if (bytes < 0)
		return NULL;
	t = this_thread();
	if (!t || !t->first)
		return NULL;
	place = what + (sk->__sk_common.skc_family == UNIX ? LOCAL : 0);
	if (place == SENDS || place == RECEIVES || place == LOCAL + SENDS || place == LOCAL + RECEIVES) {
		t->sockets[place]++;
		t->sockets[place + 1] += bytes;
	}
	return t;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int bytes, int flags)
{
	account(sk, bytes, SENDS);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int bytes, int flags)
{
	account(sk, bytes, RECEIVES);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_message, struct sock *sk, int bytes, int flags)
{
	struct thread *t = account(sk, bytes, SENDS);
	struct reading *r = reading();
	struct message *m;
	__u16 family;

	if (!t || !r || bytes <= 0)
		return 0;
	family = sk->__sk_common.skc_family;
	if (family != INET && family != INET6)
		return 0;
	r->unread = bytes;
	r->hash = 0xcbf29ce484222325ULL;
	r->failed = !t->entered;
	__builtin_memset(r->head, 0, sizeof(r->head));
	if (t->entered)
		read_message(r, t);
	m = bpf_ringbuf_reserve(&messages, sizeof(*m), 0);
	if (!m) {
		lose(LOST_MESSAGES);
		return 0;
	}
	__builtin_memset(m, 0, sizeof(*m));
	m->at = t->entered ? t->entered : bpf_ktime_get_ns();
	m->hash = r->hash;
	m->is_whole = !r->failed && !r->unread;
	__builtin_memcpy(m->head, r->head, sizeof(m->head));
	m->bytes = bytes;
	m->tid = (__s32)bpf_get_current_pid_tgid();
	m->node = t->node;
	m->family = family;
	m->sender_port = sk->__sk_common.skc_num;
	m->receiver_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (family == INET) {
		__u32 from = sk->__sk_common.skc_rcv_saddr, to = sk->__sk_common.skc_daddr;

		__builtin_memcpy(m->sender, &from, sizeof(from));
		__builtin_memcpy(m->receiver, &to, sizeof(to));
	} else {
		bpf_probe_read_kernel(m->sender, sizeof(m->sender), &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(m->receiver, sizeof(m->receiver), &sk->__sk_common.skc_v6_daddr);
	}
	bpf_ringbuf_submit(m, 0);
	return 0;
}

/* Reading the counts ------------------------------------------------------------------------------------------ */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct record);
} looked SEC(".maps");

/* The first run sees the threads of the observed processes; each run writes out the counts of all that live. */
SEC("iter/task")
int look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct record *r;
	struct thread *t;
	__u32 zero = 0, tgid, *node;

	if (!task)
		return 0;
	t = thread_of(task);
	if (!t) {
		tgid = task->tgid;
		node = bpf_map_lookup_elem(&processes, &tgid);
		/* A thread that is ending makes no event any more. */
		if (!node || task->__state & TASK_DEAD)
			return 0;
		t = see(task, *node, looked_at(task, BPF_CORE_READ_BITFIELD(task, in_iowait)));
	}
	r = bpf_map_lookup_elem(&looked, &zero);
	if (!t || !r || t->state == ENDED)
		return 0;
	for (int turn = 0; turn < 8; turn++) {
		__u64 done = t->done;

		barrier();
		copy(r, task, t);
		if (r->thread.begun == done)
			break;
	}
	r->ended = 0;
	bpf_seq_write(ctx->meta->seq, r, sizeof(*r));
	return 0;
}
