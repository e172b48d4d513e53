/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two connected QPs, memory, and requests that are executed one at a time. */
#ifndef SROCE_TEST_FABRIC_H
#define SROCE_TEST_FABRIC_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#define MAX_PIECES	16
#define DEPTH		64
#define QKEY		0x11111111

/**
 * struct side - one end of a connection
 * @device: its device
 * @gid: its address
 * @mac: that of the netdev
 * @pd: protection domain
 * @cq: completions of both queues
 * @srq: for the QP, if set before side_qp()
 * @qp: queue pair
 */
struct side {
	struct ib_device *device;
	const struct ib_gid_attr *gid;
	u8 mac[ETH_ALEN];
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
};

/* Where the tests run: from main.c. */
extern struct side near, far;

/* @m: pieces of 2^@order pages, here and there in memory, with DMA addresses */
struct memory {
	struct ib_device *device;
	u32 order;
	u32 count;
	u32 bytes;
	struct page *pages[MAX_PIECES];
	struct scatterlist sg[MAX_PIECES];
};

/* TAP: a test is a row of checks; the first that fails is shown. */
void test_begin(void);
void test_end(const char *name);
void test_skip(const char *name, const char *why);
bool test_check(bool fine, const char *what, const char *file, int line);

#define CHECK(what) test_check(what, #what, __FILE__, __LINE__)
#define EQUAL(got, wanted) ({						\
	s64 got_ = (got), wanted_ = (wanted);				\
	bool fine_ = test_check(got_ == wanted_, #got " == " #wanted,	\
				__FILE__, __LINE__);			\
	if (!fine_)							\
		pr_info("# got %lld, wanted %lld\n", got_, wanted_);	\
	fine_;								\
})

#define RUN(test) do {							\
	test_begin();							\
	test();								\
	test_end(#test);						\
} while (0)

int side_open(struct side *s, const char *device, int gid);
int side_qp(struct side *s);
/* A QP for datagrams instead, which is ready to send. */
int side_datagram_qp(struct side *s);
/* Leads to the peer; or an ERR_PTR(). */
struct ib_ah *side_address(struct side *s, const struct side *peer);
void side_close(struct side *s);
/* RESET to RTS, both; drops the completions that are left in the CQs. */
int connect_sides(void);

struct memory *memory_get(struct ib_device *device, u32 count, u32 order);
void memory_put(struct memory *m);
u8 *memory_at(const struct memory *m, u32 at);
void memory_fill(struct memory *m, u8 seed);
bool memory_is(const struct memory *m, u32 at, u32 bytes, u8 seed, u32 from);
static inline u64 memory_dma(struct memory *m)
{
	return sg_dma_address(m->sg);
}

/* The next completion; false if there is none in time. */
bool next_wc(struct side *s, struct ib_wc *wc);

/* Each posts one request and returns the status it completes with, or errno. */
int do_send(struct side *s, const struct ib_send_wr *wr);
int do_map(struct ib_mr *mr, struct memory *m, u32 offset, u32 page_size);
int do_register(struct side *s, struct ib_mr *mr, u32 key, int access);
int do_invalidate(struct side *s, u32 key);
int do_rdma(struct side *s, enum ib_wr_opcode op, struct ib_sge *sge, u64 to,
	    u32 rkey);
int post_receive(struct side *s, u64 id, struct memory *m);

static inline struct ib_sge sge_of(struct side *s, struct memory *m, u32 bytes)
{
	return (struct ib_sge) {
		.addr = memory_dma(m),
		.length = bytes,
		.lkey = s->pd->local_dma_lkey,
	};
}

/* The tests of a file. */
void test_regions(void);
void test_contexts(void);
void test_queues(void);
void test_datagrams(void);
void test_events(void);
void test_event_race(void);
void test_faults(void);
void test_gids(void);

#endif /* SROCE_TEST_FABRIC_H */
