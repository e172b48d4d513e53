#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Each method to compute ICRCs, with rxe at the other end, which uses the kernel's: messages of many lengths, with data checks.
# timeout: 420
# lanes: vm
. "$(dirname "$0")/lib.sh"

CHOSEN=/sys/module/sroce/parameters/crc

# with WAY: loads the module again with that method
with() {
	hosts_down
	modprobe -r sroce
	modprobe sroce crc=$1 && rxe_up 4200 || { fail "crc=$1: the module and its hosts"; exit 1; }
}
# pingpong WHAT OPTIONS...: both ends send, so both compute and check
pingpong() {
	local what=$1
	shift
	pair_run "$what" "ibv_rc_pingpong -d \$D2 -g \$G2${GIDS:+_6} -n 20 -c -p \$PORT $*" \
		"ibv_rc_pingpong -d \$D1 -g \$G1${GIDS:+_6} -n 20 -c -p \$PORT $* $IP2"
}

# perftest WHAT COMMAND...: in both directions
perftest() {
	local what=$1
	shift
	pair_run "$what" "$* -b -d \$D2 -x \$G2 -n 200 -p \$PORT -F" "$* -b -d \$D1 -x \$G1 -n 200 -p \$PORT -F \$IP2"
}

modprobe -r sroce
not_ok "an unknown value of the parameter crc is refused" modprobe sroce crc=fast
not_ok "the module is not loaded with an unknown value" test -e $CHOSEN
modprobe sroce
# Where there is carry-less multiplication, emulated or not, tables are the slowest.
like "without the parameter the module chooses" "$(cat $CHOSEN)" '^(chorba|clmul)$'
ways="library chorba"
grep -q pclmulqdq /proc/cpuinfo && grep -qw avx /proc/cpuinfo && ways+=" clmul"
if [ "$ways" = "library chorba" ]; then
	with clmul
	like "an instruction that the processor lacks is not used" "$(cat $CHOSEN)" '^(library|chorba)$'
fi
for way in $ways; do
	with $way
	is "crc=$way is used" "$(cat $CHOSEN)" $way
	for size in 1 37 118 1004; do pingpong "$way: messages of $size bytes" -s $size; done
	for size in 5003 65543; do
		for mtu in 1024 4096; do
			pingpong "$way: messages of $size bytes, path MTU $mtu" -s $size -m $mtu
		done
	done
	GIDS=6 pingpong "$way: IPv6" -s 20011 -m 2048
	# Each message begins at another offset, so that page boundaries are inside packets.
	for size in 1500 3004 9001; do
		perftest "$way: WRITEs of $size bytes" ib_write_bw -s $size
		perftest "$way: READs of $size bytes" ib_read_bw -s $size
	done
	is "$way: no errors counted" "$(error_counters $D2)" ""
	diag "$(counter $D2 tx_retransmits) times something was sent again"
done
