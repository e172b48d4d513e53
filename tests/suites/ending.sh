#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A queue pair or its peer goes to the error state with all requests outstanding: each completes once, and a request that is posted
# to drain the queue completes last.
# timeout: 60
# lanes: uml
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
before=$(rdma resource show)
LINK="ip -n h2 link set eth0" run_program "" 50 "$PROGRAMS/states" ending
is "no resource is left" "$(rdma resource show)" "$before"
is "errors that h1 counted" "$(error_counters $D1)" ""
is "errors that h2 counted" "$(error_counters $D2)" ""
