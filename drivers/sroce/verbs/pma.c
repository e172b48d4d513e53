// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Performance management agent: answers PMA MADs with the port's counters. */
#include <linux/limits.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "../base/sroce.h"
#include "pma.h"
#include "qp_counter.h"

#define ALL_PORTS	0xff
/* 4.096 us << 18 is about a second. */
#define RESPONSE_TIME	18

/* MAD status (IBTA 13.4.7). */
#define BAD_METHOD	cpu_to_be16(2 << 2)
#define BAD_ATTRIBUTE	cpu_to_be16(3 << 2)
#define BAD_VALUE	cpu_to_be16(7 << 2)

/*
 * A field of PortCounters or PortCountersExtended, and the counters that it
 * sums.
 */
struct field {
	u8 offset;
	u8 bytes;
	u8 shift;			/* data counters are in 32-bit words */
	u8 counters[2];
};

#define NO_COUNTER SROCE_COUNTERS

#define SHORT(name, shift, first, second)				\
	{								\
		offsetof(struct ib_pma_portcounters, name),		\
		sizeof_field(struct ib_pma_portcounters, name),		\
		shift, { first, second }				\
	}

#define LONG(name, shift, first)					\
	{								\
		offsetof(struct ib_pma_portcounters_ext, name),		\
		sizeof_field(struct ib_pma_portcounters_ext, name),	\
		shift, { first, NO_COUNTER }				\
	}

/* Fields of 16.1.3.5; all others are 0. */
static const struct field short_fields[] = {
	SHORT(port_rcv_errors, 0, SROCE_RX_ICRC_ENCAPSULATED,
	      SROCE_RX_MALFORMED),
	SHORT(port_xmit_discards, 0, SROCE_TX_LOCAL_DROPS, NO_COUNTER),
	SHORT(port_xmit_data, 2, SROCE_TX_BYTES, NO_COUNTER),
	SHORT(port_rcv_data, 2, SROCE_RX_BYTES, NO_COUNTER),
	SHORT(port_xmit_packets, 0, SROCE_TX_PACKETS, NO_COUNTER),
	SHORT(port_rcv_packets, 0, SROCE_RX_PACKETS, NO_COUNTER),
};

/* Fields of 16.1.4.11; multicast is not counted separately. */
static const struct field long_fields[] = {
	LONG(port_xmit_data, 2, SROCE_TX_BYTES),
	LONG(port_rcv_data, 2, SROCE_RX_BYTES),
	LONG(port_xmit_packets, 0, SROCE_TX_PACKETS),
	LONG(port_rcv_packets, 0, SROCE_RX_PACKETS),
	LONG(port_unicast_xmit_packets, 0, SROCE_TX_PACKETS),
	LONG(port_unicast_rcv_packets, 0, SROCE_RX_PACKETS),
};

static u64 field_value(const struct field *f, const struct sroce_counters *now)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(f->counters); i++)
		if (f->counters[i] != NO_COUNTER)
			sum += now->value[f->counters[i]];
	return sum >> f->shift;
}

/* The 16 and 32-bit counters saturate. */
static void put_field(u8 *to, const struct field *f, u64 value)
{
	switch (f->bytes) {
	case sizeof(u16):
		put_unaligned_be16(min_t(u64, value, U16_MAX), to);
		break;
	case sizeof(u32):
		put_unaligned_be32(min_t(u64, value, U32_MAX), to);
		break;
	default:
		put_unaligned_be64(value, to);
	}
}

static void get_fields(struct sroce_device *dev, const struct field *f, u32 n,
		       u8 *to)
{
	struct sroce_counters now;

	/*
	 * Cached, because any host may ask at any rate, and it sums over all
	 * CPUs.
	 */
	sroce_qp_counter_recent(dev, &now);
	for (; n--; f++)
		put_field(to + f->offset, f, field_value(f, &now));
}

static __be16 port_counters(struct sroce_device *dev,
			    const struct field *fields, u32 n,
			    const u8 *in, u8 *out)
{
	/* Both attributes begin with the same fields. */
	const struct ib_pma_portcounters *query = (const void *)in;

	if (query->port_select != SROCE_PORT &&
	    query->port_select != ALL_PORTS)
		return BAD_VALUE;
	memcpy(out, in, offsetof(struct ib_pma_portcounters,
				 symbol_error_counter));
	get_fields(dev, fields, n, out);
	return 0;
}

static __be16 class_port_info(u8 *out)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)out;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_ALLPORTSELECT |
				IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(info, RESPONSE_TIME);
	return 0;
}

/*
 * Anybody who reaches the GSI QP may read.  Nobody may set: a RoCE network has
 * no subnet manager and no key that an off-path attacker lacks.
 */
static __be16 write_reply(struct sroce_device *dev, const struct ib_pma_mad *in,
			  struct ib_pma_mad *out)
{
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return BAD_METHOD;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return class_port_info(out->data);
	case IB_PMA_PORT_COUNTERS:
		return port_counters(dev, short_fields,
				     ARRAY_SIZE(short_fields), in->data,
				     out->data);
	case IB_PMA_PORT_COUNTERS_EXT:
		return port_counters(dev, long_fields,
				     ARRAY_SIZE(long_fields), in->data,
				     out->data);
	default:
		return BAD_ATTRIBUTE;
	}
}

int sroce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	const struct ib_mad_hdr *asked = &in->mad_hdr;

	if (asked->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    asked->class_version != 1 ||
	    (asked->method != IB_MGMT_METHOD_GET &&
	     asked->method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;
	memset(out, 0, sizeof(*out));
	out->mad_hdr = *asked;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = write_reply(sroce_device(ibdev),
					  (const struct ib_pma_mad *)in,
					  (struct ib_pma_mad *)out);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
