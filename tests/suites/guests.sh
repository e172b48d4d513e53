# Helpers for the suites of two guests, beside those of lib.sh. Both guests run the steps of a suite at the same time, and wait
# for each other at TCP ports. Servers are on guest 2 and clients on guest 1.

PEER=$((3 - ROLE)) IP1=10.99.0.1 IP2=10.99.0.2 IP1_6=fd99::1 IP2_6=fd99::2
DEVICE=sroce$ROLE
HOST1=init HOST2=init
# For programs without an option for the timeout: see verbs/patient.c.
export PATIENT="env LD_PRELOAD=$SROCE_PROGRAMS/verbs/patient.so"
# The last port that was used. Each step has a port of its own, and one of the other guest with MEETING added.
PORT=21000 MEETING=3000

# await PORT: waits until the other guest connects
await() {
	limited 60 python3 -c 'import socket, sys
with socket.create_server(("", int(sys.argv[1]))) as s: s.accept()' "$1"
}

# tell PORT: connects to the other guest
tell() { (exec 3<>"/dev/tcp/10.99.0.$PEER/$1") 2>/dev/null; }

# meet: waits until both guests are here
meet() {
	PORT=$((PORT + 1))
	if [ "$ROLE" = 1 ]; then
		await $PORT && wait_for 60 tell $((PORT + MEETING))
	else
		wait_for 60 tell $PORT && await $((PORT + MEETING))
	fi
}

# between SECONDS SERVER CLIENT: the server's command on guest 2, then the client's on guest 1
between() {
	local server
	PORT=$((PORT + 1))
	export PORT DEVICE G G6 IP1 IP2 IP1_6 IP2_6
	if [ "$ROLE" = 1 ]; then
		await $((PORT + MEETING)) && limited "$1" bash -c "exec $3"
		return
	fi
	limited "$1" bash -c "exec $2" &
	server=$!
	wait_server $server $PORT && wait_for 60 tell $((PORT + MEETING))
	wait $server
}

# both SECONDS COMMAND: the same with the client's command that is the server's and its address
both() { between "$1" "$2" "$2 \$IP2"; }
