#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Libraries of parallel programs: UCX and libfabric with their own test programs, Open MPI and MPICH with tests/mpi/exchange.py.
# timeout: 420
# lanes: vm
. "$(dirname "$0")/lib.sh"

HERE=$(realpath "$(dirname "$0")/../mpi")
hosts_up 9000 || { fail "two hosts"; exit 1; }

# moved_more BYTES: has D2 received at least this number since the last call?
moved_more() {
	local before=${BYTES:-0}
	BYTES=$(counter $D2 rx_bytes)
	[ $((BYTES - before)) -gt "$1" ]
}

# --- UCX ---

# A line for each test, as ucx_perftest reads them
ucx_tests() {
	local test size
	for test in tag_lat tag_bw tag_sync_lat ucp_am_bw stream_bw ucp_put_lat ucp_put_bw ucp_get; do
		for size in 8 1500 65536; do echo "${test}_$size -t $test -s $size -n 50 -w 5"; done
	done
	for test in ucp_add ucp_fadd ucp_swap ucp_cswap; do
		for size in 4 8; do echo "${test}_$size -t $test -s $size -n 50 -w 5"; done
	done
	echo "iov -t tag_bw -D iov,iov -s 100,3000,70000 -n 50 -w 5"
}

# ucx TRANSPORTS
ucx() {
	local options="-p \$PORT -f -v -b $OUTPUT.tests"
	# A build with MPI waits for mpirun unless told otherwise.
	! ucx_perftest -h 2>&1 | grep -q -e '-P <0|1>' || options+=" -P 0"
	pair_run "UCX over $1" "env UCX_TLS=$1 UCX_NET_DEVICES=\$D2:1 ucx_perftest $options" \
		"env UCX_TLS=$1 UCX_NET_DEVICES=\$D1:1 ucx_perftest \$IP2 $options" 120
	is "UCX over $1: every test has a result" \
		"$(grep -cE '^[a-z_0-9]+, *[0-9]+,' <<<"$CLIENT_OUTPUT")" "$(wc -l <"$OUTPUT.tests")"
	ok "UCX over $1: it uses the devices" moved_more 10000000
}

# Not every version in Debian has it.
with_verbs() {
	compgen -G "/usr/lib/*/ucx/libuct_ib.so.0" >/dev/null || { skip "$1" "UCX is built without verbs"; return 1; }
}

if there ucx_info ucx_perftest && with_verbs UCX; then
	ucx_tests >"$OUTPUT.tests"
	at_exit rm -f "$OUTPUT.tests"
	like "UCX finds the device's transports" "$(on h1 env UCX_NET_DEVICES=$D1:1 ucx_info -d | tr '\n' ' ')" \
		"Transport: rc_verbs[ #]*Device: $D1:1.*Transport: ud_verbs[ #]*Device: $D1:1"
	ucx rc_v
	ucx ud_v
fi

# --- libfabric ---

# fabric WHAT OPTIONS...: all lengths, data compared
fabric() {
	local what=$1
	shift
	pair_run "libfabric, $what" "fi_pingpong -c -B \$PORT $* -d \$D2" "fi_pingpong -c -P \$PORT $* -d \$D1 \$IP2"
	ok "libfabric, $what: it uses the devices" moved_more 1000000
}

if there fi_pingpong; then
	like "libfabric finds the device" "$(on h1 fi_info -p verbs -d $D1)" "domain: $D1"
	fabric "connections" -p verbs -e msg
	fabric "reliable datagrams, tagged" -p "verbs\;ofi_rxm" -e rdm -m tagged
fi

# --- Open MPI ---

# How to reach a host and over which network: options of Open MPI's own runtime up to version 4, of PRRTE since then
export OMPI_MCA_plm_rsh_agent="$HERE/on-host" OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_routed=direct
export PRTE_MCA_plm_ssh_agent="$HERE/on-host" PRTE_MCA_prte_if_include=eth0

# ranks WHAT COMMAND...: the command, which runs on the first host, starts a program on both
ranks() {
	export D1 D2
	local what=$1 verdict text told=0 planned=none
	shift
	"$HERE/on-host" h1 timeout -k 5 "$(seconds 60)" "$@" >"$OUTPUT.mpi" 2>&1
	is "$what: the status of $1" $? 0
	while read -r verdict text; do
		case $verdict in
		ok) pass "$what: $text" && told=$((told + 1)) ;;
		not) fail "$what: $text" ;;
		1..*) planned=${verdict#1..} ;;
		*) diag "$verdict $text" ;;
		esac
	done <"$OUTPUT.mpi"
	is "$what: all ranks report" $told "$planned"
	rm -f "$OUTPUT.mpi"
	ok "$what: it uses the devices" moved_more 5000000
}

# mpi WHAT RANKS PROGRAM OPTION...: half of the ranks on each host
mpi() {
	local what=$1 ranks=$2 program=$3
	shift 3
	# shellcheck disable=SC2086
	ranks "$what" mpirun --allow-run-as-root --map-by node:oversubscribe -np "$ranks" --host "h1:$ranks,h2:$ranks" "$@" python3 $program
}

by_ucx() { echo "-mca pml ucx -mca pml_ucx_devices any -mca osc ucx -x UCX_TLS=$1,self"; }
by_libfabric="-mca pml cm -mca mtl ofi -mca mtl_ofi_provider_include verbs\\;ofi_rxm"

if there mpirun && { python3 -c 'import mpi4py' 2>/dev/null || { skip "Open MPI" "there is no mpi4py"; false; }; }; then
	if with_verbs "Open MPI over UCX"; then
		# shellcheck disable=SC2046
		mpi "MPI over RC" 2 "$HERE/exchange.py" $(by_ucx rc_v)
		# shellcheck disable=SC2046
		mpi "MPI over UD, six ranks" 6 "$HERE/exchange.py" $(by_ucx ud_v)
	fi
	# Open MPI 4.1's windows want atomics that its libfabric does not have for any network.
	# shellcheck disable=SC2086
	mpi "MPI over libfabric" 4 "$HERE/exchange.py --no-windows" $by_libfabric
fi

# --- OpenSHMEM, of Open MPI ---

if there mpirun oshmem_info && with_verbs OpenSHMEM; then
	for transport in rc_v ud_v; do
		# shellcheck disable=SC2046
		mpi "OpenSHMEM over $transport" 4 "$HERE/shmem.py" $(by_ucx $transport) -mca spml ucx -mca spml_ucx_devices any
	done
fi

# --- MPICH ---

# Over UCX. Each host chooses the device, so ranks get only some variables.
mpich() {
	ranks "$1" env PYTHONPATH="$HERE/mpich" UCX_TLS="$3,self" mpiexec.mpich -launcher rsh -launcher-exec "$HERE/on-host" -iface eth0 \
		-hosts h1,h2 -np "$2" -genvlist PYTHONPATH,UCX_TLS python3 "$HERE/exchange.py"
}

if there mpiexec.mpich && with_verbs "MPICH"; then
	mpich "MPICH over RC" 2 rc_v
	mpich "MPICH over UD, six ranks" 6 ud_v
fi
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
