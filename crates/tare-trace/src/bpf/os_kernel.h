/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Kernel types and constants that os.bpf.c reads besides those of kernel.h. */
#ifndef TARE_OS_KERNEL_H
#define TARE_OS_KERNEL_H

#include "switching.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10

/* x86-64's; where numbers differ, payloads are not hashed and titles of ended processes stay unknown. */
enum {
	WRITE = 1,
	PWRITE = 18,
	WRITEV = 20,
	SENDTO = 44,
	SENDMSG = 46,
	EXIT = 60,
	EXIT_GROUP = 231,
	PWRITEV = 296,
	PWRITEV2 = 328
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long si, dx, orig_ax;
};

struct folio___flat {
	unsigned long flags;
};

struct memdesc_flags {
	unsigned long f;
};

struct folio {
	struct memdesc_flags flags;
	unsigned long index;
	unsigned int _nr_pages;
};

struct folio___older {
	unsigned int _folio_nr_pages;
};

struct address_space;
struct request_queue;

struct bvec_iter {
	unsigned long long bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
};

struct request {
	struct bio *bio;
};

struct in6_u {
	__be32 u6_addr32[4];
};

struct in6_addr {
	struct in6_u in6_u;
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

#pragma clang attribute pop

#endif
