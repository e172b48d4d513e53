#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A user takes as much of a device's shared resources as possible; other users find the rest.
# LIMITS="ahs" does this with address handles, half a million of them.
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

LIMITS=${LIMITS:-memory group}
[ "${SROCE_DEBUG_KERNEL:-0}" = 0 ] || LIMITS+=" memberships"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
before=$(rdma resource show)
# shellcheck disable=SC2086
run_program "" 100 "$PROGRAMS/robust" shares $LIMITS
is "no resource is left" "$(rdma resource show)" "$before"
