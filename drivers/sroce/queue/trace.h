/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sroce

#if !defined(SROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SROCE_TRACE_H

#include <linux/tracepoint.h>
#include "qp.h"

/* @bytes: UDP payload.  @psn: PSN of the packet. */
DECLARE_EVENT_CLASS(sroce_packet,
	TP_PROTO(const struct sroce_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, bytes)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy(__entry->dev, qp->dev->ib.name,
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->bytes = bytes;
		__entry->opcode = opcode;
	),
	TP_printk("%s qp %u opcode 0x%02x psn %u bytes %u", __entry->dev,
		  __entry->qpn, __entry->opcode, __entry->psn, __entry->bytes)
);

/* A packet with valid headers has arrived for a QP. */
DEFINE_EVENT(sroce_packet, sroce_packet_in,
	TP_PROTO(const struct sroce_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes));

/* A packet is handed to the network stack. */
DEFINE_EVENT(sroce_packet, sroce_packet_out,
	TP_PROTO(const struct sroce_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes));

/* All packets from @psn on will be retransmitted. */
TRACE_EVENT(sroce_retransmit,
	TP_PROTO(const struct sroce_qp *qp, u32 psn, u8 left),
	TP_ARGS(qp, psn, left),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, left)
	),
	TP_fast_assign(
		strscpy(__entry->dev, qp->dev->ib.name,
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->left = left;
	),
	TP_printk("%s qp %u psn %u retries left %u", __entry->dev,
		  __entry->qpn, __entry->psn, __entry->left)
);

/* The packets from @psn up to @end are missing, and will be repeated. */
TRACE_EVENT(sroce_repair,
	TP_PROTO(const struct sroce_qp *qp, u32 psn, u32 end),
	TP_ARGS(qp, psn, end),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, end)
	),
	TP_fast_assign(
		strscpy(__entry->dev, qp->dev->ib.name,
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->end = end;
	),
	TP_printk("%s qp %u psn %u end %u", __entry->dev, __entry->qpn,
		  __entry->psn, __entry->end)
);

/* opcode is an enum ibv_wc_opcode, status an enum ibv_wc_status. */
TRACE_EVENT(sroce_complete,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_cqe *cqe),
	TP_ARGS(qp, cqe),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, bytes)
		__field(u8, opcode)
		__field(u8, status)
	),
	TP_fast_assign(
		strscpy(__entry->dev, qp->dev->ib.name,
			IB_DEVICE_NAME_MAX);
		__entry->wr_id = cqe->wr_id;
		__entry->qpn = qp->qpn;
		__entry->bytes = cqe->byte_len;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
	),
	TP_printk("%s qp %u wr_id 0x%llx opcode %u status %u bytes %u",
		  __entry->dev, __entry->qpn, __entry->wr_id,
		  __entry->opcode, __entry->status, __entry->bytes)
);

#define sroce_show_state(state)						\
	__print_symbolic(state,						\
			 { IB_QPS_RESET, "RESET" }, { IB_QPS_INIT, "INIT" }, \
			 { IB_QPS_RTR, "RTR" }, { IB_QPS_RTS, "RTS" },	\
			 { IB_QPS_SQD, "SQD" }, { IB_QPS_SQE, "SQE" },	\
			 { IB_QPS_ERR, "ERR" })

TRACE_EVENT(sroce_state,
	TP_PROTO(const struct sroce_qp *qp, u8 from, u8 to),
	TP_ARGS(qp, from, to),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		strscpy(__entry->dev, qp->dev->ib.name,
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s qp %u %s -> %s", __entry->dev, __entry->qpn,
		  sroce_show_state(__entry->from),
		  sroce_show_state(__entry->to))
);

#endif /* SROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
