// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attributes that modify_qp() requires, accepts and refuses for each type of QP and
 * each transition, and values that it always refuses.  Written from IBTA vol. 1,
 * 11.2.5.2 and annex A14, not from the table in the kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transfer.h"

#define ALL	(2 * IBV_QP_DEST_QPN - 1)
#define ANY	IBV_QP_CUR_STATE
#define PATH	(IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define RIGHTS	IBV_QP_ACCESS_FLAGS

/**
 * struct rule - a transition and its attributes
 * @type: of the QP
 * @from: state before
 * @to: and after
 * @needs: required attributes
 * @takes: optional attributes
 */
struct rule {
	enum ibv_qp_type type;
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int needs;
	int takes;
};

#define RULE(type, from, to, needs, takes)				\
	{ IBV_QPT_##type, IBV_QPS_##from, IBV_QPS_##to, needs, takes }

#define INIT_CONNECTED	(IBV_QP_PKEY_INDEX | IBV_QP_PORT | RIGHTS)
#define INIT_UD		(IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)
#define RTR_CONNECTED	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | \
			 IBV_QP_RQ_PSN)
#define RTR_ANSWERING	(RTR_CONNECTED | IBV_QP_MAX_DEST_RD_ATOMIC |	\
			 IBV_QP_MIN_RNR_TIMER)
#define RTS_ASKING	(IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
			 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define RTR_TAKES	(IBV_QP_PKEY_INDEX | RIGHTS)
#define RTS_TAKES	(ANY | RIGHTS | IBV_QP_RATE_LIMIT)
#define RNR		IBV_QP_MIN_RNR_TIMER
#define NOTIFY		IBV_QP_EN_SQD_ASYNC_NOTIFY
/* Attributes that may change in SQD, while nothing is sent. */
#define SQD_PATH	(IBV_QP_PKEY_INDEX | IBV_QP_AV | RIGHTS |	\
			 IBV_QP_RATE_LIMIT)
#define SQD_ASKING	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
			 IBV_QP_MAX_QP_RD_ATOMIC)

static const struct rule rules[] = {
	RULE(RC, RESET, INIT, INIT_CONNECTED, 0),
	RULE(UC, RESET, INIT, INIT_CONNECTED, 0),
	RULE(UD, RESET, INIT, INIT_UD, 0),
	RULE(XRC_SEND, RESET, INIT, INIT_CONNECTED, 0),
	RULE(XRC_RECV, RESET, INIT, INIT_CONNECTED, 0),
	RULE(RC, INIT, INIT, 0, INIT_CONNECTED),
	RULE(UC, INIT, INIT, 0, INIT_CONNECTED),
	RULE(UD, INIT, INIT, 0, INIT_UD),
	RULE(XRC_SEND, INIT, INIT, 0, INIT_CONNECTED),
	RULE(XRC_RECV, INIT, INIT, 0, INIT_CONNECTED),
	RULE(RC, INIT, RTR, RTR_ANSWERING, RTR_TAKES),
	RULE(UC, INIT, RTR, RTR_CONNECTED, RTR_TAKES),
	RULE(UD, INIT, RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY),
	RULE(XRC_SEND, INIT, RTR, RTR_CONNECTED, RTR_TAKES),
	RULE(XRC_RECV, INIT, RTR, RTR_ANSWERING, RTR_TAKES),
	RULE(RC, RTR, RTS, RTS_ASKING, RTS_TAKES | RNR),
	RULE(UC, RTR, RTS, IBV_QP_SQ_PSN, RTS_TAKES),
	RULE(UD, RTR, RTS, IBV_QP_SQ_PSN, ANY | IBV_QP_QKEY |
	     IBV_QP_RATE_LIMIT),
	RULE(XRC_SEND, RTR, RTS, RTS_ASKING, RTS_TAKES),
	RULE(XRC_RECV, RTR, RTS, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
	     RTS_TAKES | RNR),
	RULE(RC, RTS, RTS, 0, RTS_TAKES | RNR),
	RULE(UC, RTS, RTS, 0, RTS_TAKES),
	RULE(UD, RTS, RTS, 0, ANY | IBV_QP_QKEY | IBV_QP_RATE_LIMIT),
	RULE(XRC_SEND, RTS, RTS, 0, RTS_TAKES),
	RULE(XRC_RECV, RTS, RTS, 0, RTS_TAKES | RNR),
	RULE(RC, RTS, SQD, 0, NOTIFY | IBV_QP_RATE_LIMIT),
	RULE(UC, RTS, SQD, 0, NOTIFY | IBV_QP_RATE_LIMIT),
	RULE(UD, RTS, SQD, 0, NOTIFY | IBV_QP_RATE_LIMIT),
	RULE(XRC_SEND, RTS, SQD, 0, NOTIFY | IBV_QP_RATE_LIMIT),
	RULE(RC, SQD, SQD, 0, SQD_PATH | SQD_ASKING | RNR |
	     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PORT),
	/* A path comes with a port in the RDMA core, which UC may not change. */
	RULE(UC, SQD, SQD, 0, SQD_PATH & ~IBV_QP_AV),
	RULE(UD, SQD, SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY |
	     IBV_QP_RATE_LIMIT),
	RULE(XRC_SEND, SQD, SQD, 0, SQD_PATH | SQD_ASKING | IBV_QP_PORT),
	RULE(RC, SQD, RTS, 0, RTS_TAKES | RNR),
	RULE(UC, SQD, RTS, 0, RTS_TAKES),
	RULE(UD, SQD, RTS, 0, ANY | IBV_QP_QKEY | IBV_QP_RATE_LIMIT),
	RULE(XRC_SEND, SQD, RTS, 0, RTS_TAKES),
	RULE(RC, RTS, ERR, 0, 0),
	RULE(RC, RTS, RESET, 0, 0),
	RULE(RC, ERR, RESET, 0, 0),
};

static const char *const names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

static const char *name_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	case IBV_QPT_XRC_SEND:
		return "XRC initiator";
	default:
		return "XRC target";
	}
}

/* Attributes of the side that such a QP does not have; the RDMA core ignores them. */
static int dropped(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_XRC_SEND:
		return IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPT_XRC_RECV:
		return IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT |
		       IBV_QP_RNR_RETRY;
	default:
		return 0;
	}
}

/* The end of a pair that has that type. */
static struct side *side_of(struct pair *pair, enum ibv_qp_type type)
{
	return type == IBV_QPT_XRC_RECV ? &pair->b : &pair->a;
}

static struct side *peer_of(struct pair *pair, enum ibv_qp_type type)
{
	return type == IBV_QPT_XRC_RECV ? &pair->a : &pair->b;
}

static bool create(struct pair *pair, enum ibv_qp_type type)
{
	const struct options options = {
		.type = type == IBV_QPT_XRC_RECV ? IBV_QPT_XRC_SEND : type,
	};

	return pair_create(pair, &options);
}

static bool bring(struct pair *pair, enum ibv_qp_type type,
		  enum ibv_qp_state state)
{
	struct side *side = side_of(pair, type);
	const struct options *o = &pair->options;

	if (!CHECK_CALL(to_reset(side), 0) || state == IBV_QPS_RESET)
		return state == IBV_QPS_RESET;
	if (!CHECK_CALL(to_init(side, o), 0) || state == IBV_QPS_INIT)
		return state == IBV_QPS_INIT;
	if (state == IBV_QPS_ERR)
		return CHECK_CALL(to_state(side, state), 0);
	if (!CHECK_CALL(to_rtr(side, peer_of(pair, type), o), 0) ||
	    state == IBV_QPS_RTR)
		return state == IBV_QPS_RTR;
	return CHECK_CALL(to_rts(side, o), 0) &&
	       (state == IBV_QPS_RTS || CHECK_CALL(to_state(side, state), 0));
}

/* A good value for everything, none of which bring() gives, where there are several. */
static struct ibv_qp_attr good_values(struct pair *pair, enum ibv_qp_type type,
				      enum ibv_qp_state from,
				      enum ibv_qp_state to)
{
	const struct side *side = side_of(pair, type);
	struct ibv_qp_attr attr;
	int mask;

	rtr_attr(&attr, &mask, IBV_QPT_RC, side, peer_of(pair, type),
		 &pair->options);
	attr.qp_state = to;
	attr.cur_qp_state = from;
	attr.port_num = 1;
	attr.qkey = QKEY + 1;
	attr.qp_access_flags = type == IBV_QPT_UC ? IBV_ACCESS_LOCAL_WRITE :
						    IBV_ACCESS_REMOTE_WRITE;
	attr.ah_attr.grh.traffic_class = 40;
	attr.path_mtu = IBV_MTU_512;
	attr.dest_qp_num ^= 1;
	attr.rq_psn++;
	attr.sq_psn = attr.rq_psn + 1;
	attr.min_rnr_timer = 11;
	attr.max_dest_rd_atomic = 3;
	attr.timeout = 13;
	attr.retry_cnt = 6;
	attr.rnr_retry = 5;
	attr.max_rd_atomic = 4;
	attr.rate_limit = 10000;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 1;
	attr.alt_timeout = 14;
	attr.path_mig_state = IBV_MIG_MIGRATED;
	return attr;
}

#define AT(field)							\
	offsetof(struct ibv_qp_attr, field),				\
	sizeof(((struct ibv_qp_attr *)0)->field)

/* Attributes that ibv_query_qp() returns, and that have several values.  Not hop_limit: the RDMA core chooses it. */
static const struct field {
	const char *name;
	int mask;
	size_t at;
	size_t size;
} fields[] = {
	{ "qp_access_flags", RIGHTS, AT(qp_access_flags) },
	{ "qkey", IBV_QP_QKEY, AT(qkey) },
	{ "traffic_class", IBV_QP_AV, AT(ah_attr.grh.traffic_class) },
	{ "path_mtu", IBV_QP_PATH_MTU, AT(path_mtu) },
	{ "dest_qp_num", IBV_QP_DEST_QPN, AT(dest_qp_num) },
	{ "rq_psn", IBV_QP_RQ_PSN, AT(rq_psn) },
	{ "sq_psn", IBV_QP_SQ_PSN, AT(sq_psn) },
	{ "min_rnr_timer", RNR, AT(min_rnr_timer) },
	{ "max_rd_atomic", IBV_QP_MAX_QP_RD_ATOMIC, AT(max_rd_atomic) },
	{ "max_dest_rd_atomic", IBV_QP_MAX_DEST_RD_ATOMIC,
	  AT(max_dest_rd_atomic) },
	{ "timeout", IBV_QP_TIMEOUT, AT(timeout) },
	{ "retry_cnt", IBV_QP_RETRY_CNT, AT(retry_cnt) },
	{ "rnr_retry", IBV_QP_RNR_RETRY, AT(rnr_retry) },
};

static bool same(const struct field *f, const struct ibv_qp_attr *x,
		 const struct ibv_qp_attr *y)
{
	return !memcmp((char *)x + f->at, (char *)y + f->at, f->size);
}

/* The attributes of the mask have their new values, all others those of before. */
static void changed(const struct ibv_qp_attr *before,
		    const struct ibv_qp_attr *set,
		    const struct ibv_qp_attr *after, int mask)
{
	const struct field *f;

	for (f = fields; f < fields + ARRAY_SIZE(fields); f++)
		if (!CHECK(same(f, after, f->mask & mask ? set : before)))
			diag("%s, with attributes %#x", f->name, mask);
}

/* With this mask the transition must have this result, and change all or nothing. */
static void step(struct pair *pair, const struct rule *rule, int mask, int want)
{
	struct side *side = side_of(pair, rule->type);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr, before = {}, after = {};
	int err;

	if (!bring(pair, rule->type, rule->from))
		return;
	attr = good_values(pair, rule->type, rule->from, rule->to);
	ibv_query_qp(side->qp, &before, ALL, &init);
	err = ibv_modify_qp(side->qp, &attr, mask | IBV_QP_STATE);
	if (!CHECK_CALL(err, want))
		diag("with attributes %#x", mask);
	ibv_query_qp(side->qp, &after, ALL, &init);
	if (want)
		CHECK(!memcmp(&before, &after, sizeof(before)));
	else
		CHECK_CALL(after.qp_state, rule->to);
	if (!want && rule->to != IBV_QPS_RESET)
		changed(&before, &attr, &after, mask & ~dropped(rule->type));
}

static void attributes(const void *arg)
{
	const int known = ALL | IBV_QP_RATE_LIMIT;
	const struct rule *rule = arg;
	struct pair pair;
	int bit;

	REQUIRE(create(&pair, rule->type));
	step(&pair, rule, rule->needs, 0);
	/* RoCE has no alternate paths: the core or the table refuses them. */
	step(&pair, rule, rule->needs | IBV_QP_ALT_PATH, EINVAL);
	for (bit = 2; bit <= IBV_QP_RATE_LIMIT; bit <<= 1) {
		if (rule->needs & bit)
			step(&pair, rule, rule->needs & ~bit, EINVAL);
		else if ((rule->takes | dropped(rule->type)) & bit)
			step(&pair, rule, rule->needs | bit, 0);
		else if (bit & known && !(bit & PATH))
			step(&pair, rule, rule->needs | bit, EINVAL);
	}
	if (rule->takes & IBV_QP_RATE_LIMIT)
		step(&pair, rule, rule->needs | (rule->takes & ~ANY), 0);
	pair_down(&pair);
}

/* Values that no QP may have, when they may be changed at all */

static const struct value {
	const char *what;
	enum ibv_qp_state state;
	int mask;
	size_t at;
	size_t size;
	uint32_t value;
	int err;
} values[] = {
	{ "state 7", IBV_QPS_RTS, IBV_QP_STATE, AT(qp_state), 7, EINVAL },
	{ "state 255", IBV_QPS_RTS, IBV_QP_STATE, AT(qp_state), 255, EINVAL },
	{ "current state 7", IBV_QPS_RTS, IBV_QP_CUR_STATE, AT(cur_qp_state), 7,
	  EINVAL },
	{ "current state SQD in RTS", IBV_QPS_RTS, IBV_QP_CUR_STATE,
	  AT(cur_qp_state), IBV_QPS_SQD, EINVAL },
	{ "min_rnr_timer 32", IBV_QPS_RTS, RNR, AT(min_rnr_timer), 32, EINVAL },
	{ "min_rnr_timer 255", IBV_QPS_RTS, RNR, AT(min_rnr_timer), 255,
	  EINVAL },
	{ "rate_limit below the least", IBV_QPS_RTS, IBV_QP_RATE_LIMIT,
	  AT(rate_limit), 1, EINVAL },
	{ "an unknown right", IBV_QPS_RTS, RIGHTS, AT(qp_access_flags),
	  1 << 19 | IBV_ACCESS_REMOTE_READ, EINVAL },
	{ "all rights that there could be", IBV_QPS_RTS, RIGHTS,
	  AT(qp_access_flags), 0xffffffff, EINVAL },
	{ "path migration REARM", IBV_QPS_SQD, IBV_QP_PATH_MIG_STATE,
	  AT(path_mig_state), IBV_MIG_REARM, EOPNOTSUPP },
	{ "path migration ARMED", IBV_QPS_SQD, IBV_QP_PATH_MIG_STATE,
	  AT(path_mig_state), IBV_MIG_ARMED, EOPNOTSUPP },
	{ "an unknown path migration", IBV_QPS_SQD, IBV_QP_PATH_MIG_STATE,
	  AT(path_mig_state), 3, EINVAL },
	{ "timeout 32", IBV_QPS_SQD, IBV_QP_TIMEOUT, AT(timeout), 32, EINVAL },
	{ "retry_cnt 8", IBV_QPS_SQD, IBV_QP_RETRY_CNT, AT(retry_cnt), 8,
	  EINVAL },
	{ "rnr_retry 8", IBV_QPS_SQD, IBV_QP_RNR_RETRY, AT(rnr_retry), 8,
	  EINVAL },
	{ "max_rd_atomic 129", IBV_QPS_SQD, IBV_QP_MAX_QP_RD_ATOMIC,
	  AT(max_rd_atomic), 129, EINVAL },
	{ "max_dest_rd_atomic 129", IBV_QPS_SQD, IBV_QP_MAX_DEST_RD_ATOMIC,
	  AT(max_dest_rd_atomic), 129, EINVAL },
	{ "port 2", IBV_QPS_SQD, IBV_QP_PORT, AT(port_num), 2, EINVAL },
	{ "pkey_index 65535", IBV_QPS_SQD, IBV_QP_PKEY_INDEX, AT(pkey_index),
	  65535, EINVAL },
	{ "service level 16", IBV_QPS_SQD, IBV_QP_AV, AT(ah_attr.sl), 16,
	  EINVAL },
	{ "path without GRH", IBV_QPS_SQD, IBV_QP_AV, AT(ah_attr.is_global), 0,
	  EINVAL },
	{ "path by port 2", IBV_QPS_SQD, IBV_QP_AV, AT(ah_attr.port_num), 2,
	  EINVAL },
	{ "path of GID 255", IBV_QPS_SQD, IBV_QP_AV,
	  AT(ah_attr.grh.sgid_index), 255, ENODATA },
	{ "path to a group", IBV_QPS_SQD, IBV_QP_AV,
	  AT(ah_attr.grh.dgid.raw[12]), 239, EINVAL },
};

static void bad_value(const void *arg)
{
	const struct value *v = arg;
	struct ibv_qp_attr attr, before = {}, after = {};
	struct ibv_qp_init_attr init;
	struct pair pair;

	REQUIRE(pair_up(&pair, NULL) && bring(&pair, IBV_QPT_RC, v->state));
	attr = good_values(&pair, IBV_QPT_RC, v->state, v->state);
	memcpy((char *)&attr + v->at, &v->value, v->size);
	ibv_query_qp(pair.a.qp, &before, ALL, &init);
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, v->mask), v->err);
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, v->mask | IBV_QP_STATE),
		   v->err);
	ibv_query_qp(pair.a.qp, &after, ALL, &init);
	CHECK(!memcmp(&before, &after, sizeof(before)));
	CHECK(pair_again(&pair) && works(&pair));
	pair_down(&pair);
}

static void unknown_bits(const void *arg)
{
	struct ibv_qp_attr attr;
	struct pair pair;
	unsigned int bit;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	attr = good_values(&pair, IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS);
	for (bit = 1u << 26; bit; bit <<= 1)
		if (!CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, bit),
				EOPNOTSUPP))
			diag("attribute %#x", bit);
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(attributes)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		run_test(attributes, &rules[i], "%s, %s to %s: every attribute",
			 name_of(rules[i].type), names[rules[i].from],
			 names[rules[i].to]);
	for (i = 0; i < ARRAY_SIZE(values); i++)
		run_test(bad_value, &values[i],
			 "refused, and nothing changes: %s", values[i].what);
	run_test(unknown_bits, NULL, "unknown attributes");
}
