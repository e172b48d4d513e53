/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Misuse of verbs, and the errno of each.  Each row of the table in
 * Documentation/errors.rst is a line of output here.
 */
#ifndef MISUSE_H
#define MISUSE_H

#include <errno.h>

#include "transfer.h"

/* A row: @call has to return @want, which is the name of an errno or status. */
#define REFUSED(verb, what, want, call)					\
	refused(verb, what, #want, want, call, __FILE__, __LINE__)

/* The errno of a call that returns an object, or 0 if it has made one. */
#define NONE(object)							\
	({								\
		errno = 0;						\
		(object) ? 0 : errno;					\
	})

void refused(const char *verb, const char *what, const char *name, int want,
	     int got, const char *file, int line);

/**
 * struct things - one object of each type, all of hosts[0]
 * @pair: RC, connected, with rights for windows
 * @datagrams: UD
 * @xrc: from a to b, which is the initiator and the SRQ's side
 * @pd: of side a of @pair, as everything here
 * @other_pd: another one
 * @channel: for completions
 * @cq: not in use
 * @srq: not in use
 * @xrcd: an XRC domain
 * @xrc_srq: of @xrcd
 * @qp: RC in RESET
 * @mr: on @buf
 * @mw: a window of type 2
 * @dm: device memory, 100 bytes
 * @ah: leads to hosts[1]
 * @td: a thread domain
 * @buf: two pages
 */
struct things {
	struct pair pair;
	struct pair datagrams;
	struct pair xrc;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_pd *other_pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *xrc_srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
	struct ibv_ah *ah;
	struct ibv_td *td;
	uint8_t *buf;
};

/* Returns false after printing the reason. */
bool things_up(struct things *t);
/* Checks that they still work, and destroys them. */
void things_down(struct things *t);

/* Creates the object of a row with these attributes; returns the errno. */
int make_qp(struct things *t, struct ibv_qp_init_attr_ex attr);

#endif /* MISUSE_H */
