#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# More messages than receive requests: each shortage costs one RNR wait, and all messages arrive once and in order.
# timeout: 100
# lanes: uml
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
run_program "" 90 "$PROGRAMS/data" unready
is "errors that h1 counted" "$(error_counters $D1)" ""
is "errors that h2 counted" "$(error_counters $D2)" ""
