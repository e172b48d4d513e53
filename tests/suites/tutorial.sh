#!/bin/bash
# Runs the commands of Documentation/tutorial.rst in their order.
# timeout: 180
. "$(dirname "$0")/lib.sh"

TUTORIAL=$(dirname "$0")/../../Documentation/tutorial.rst

# block NAME: prints the literal block after the comment "tested: tests/suites/tutorial.sh, block NAME"
block() {
	awk -v mark=".. tested: tests/suites/tutorial.sh, block $1" '
		{ text = $0; sub(/^ +/, "", text) }
		text == mark { found = 1; next }
		!found { next }
		!begun { if (text == "::") begun = 1; next }
		text == "" { if (inside) { blank = 1 }; next }
		blank { exit }
		{ inside = 1; print text }
	' "$TUTORIAL"
}

# Command by command, in this shell: a block uses the variables that earlier blocks set, as in a user's terminal.
type_in() {
	local line command=''
	while IFS= read -r line; do
		command+=$line$'\n'
		[[ $line != *\\ ]] || continue
		eval "$command" </dev/null || { echo "failed: $command"; return 1; }
		command=''
	done <<<"$(block "$1")"
}

typed() {
	[ -n "$(block "$1")" ] || { fail "$2: the tutorial has no block $1"; return; }
	ok "$2" type_in "$1"
}

# On the host "right"
listens() {
	ip netns exec right cat /proc/net/tcp /proc/net/tcp6 | grep -q "$(printf ':%04X .* 0A ' "$1")" || cm_listens "$1"
}

# pair WHAT NAME PORT: the blocks NAME-server and NAME-client, in the one terminal. Nothing is exported: a user does not do it.
pair() {
	local server failed=$FAILED status
	type_in "$2-server" >"$OUTPUT.server" 2>&1
	server=$!
	ok "$1: the server listens" wait_for 20 listens "$3"
	ok "$1" type_in "$2-client"
	# shellcheck disable=SC2046 # a word each
	[ $FAILED = "$failed" ] || kill $(ip netns pids right)
	wait $server
	status=$?
	[ $status = 0 ] || cat "$OUTPUT.server"
	is "$1: the server's status" $status 0
	rm -f "$OUTPUT.server"
}

# podman run OPTIONS IMAGE COMMAND...: a stand-in for it, with the namespace, the devices and the limit of the options,
# and no other privileges of root. The image is this machine.
podman() {
	local namespace='' nodes=() memlock=64
	[ "$1" = run ] || { echo "no stand-in for podman $1"; return 1; }
	shift
	while [[ $1 == -* ]]; do
		case $1 in
		--rm) shift; continue ;;
		--network) namespace=${2#ns:/run/netns/} ;;
		--device) nodes+=("$2") ;;
		--ulimit) memlock=${2#memlock=} ;;
		*) echo "no stand-in for podman run $1"; return 1 ;;
		esac
		shift 2
	done
	shift
	mkdir -p /mnt
	ip netns exec "$namespace" unshare --mount bash -euc '
		ulimit -l "${1/#-1/unlimited}"
		mount -t tmpfs new /mnt
		mkdir /mnt/infiniband
		cp -a $2 /mnt/infiniband/
		cp -a /dev/{null,zero,random,urandom} /mnt/
		mount --move /mnt /dev
		exec setpriv --inh-caps=-all --bounding-set=-all "${@:3}"' podman "$memlock" "${nodes[*]}" "$@"
}

typed module "the module is there"
typed hosts "two hosts"
typed devices "two devices"
like "both devices are active" "$(rdma link show | tr '\n' ' ')" 'left0/1 state ACTIVE .*right0/1 state ACTIVE '
ok "both devices have GIDs" wait_for 10 eval 'grep -q ffff:0a09:0001 /sys/class/infiniband/left0/ports/1/gids/* &&
	grep -q ffff:0a09:0002 /sys/class/infiniband/right0/ports/1/gids/*'
like "ibv_devinfo shows a device" "$(eval "$(block look)" | tr '\n' ' ')" 'PORT_ACTIVE .*1024 .*::ffff:10\.9\.0\.1'
here=$PWD
typed gids "the indices of their GIDs"
cd "$here" || exit 1
like "the counters are numbers" "$LEFT $RIGHT" '^[0-9]+ [0-9]+$'
pair "ibv_rc_pingpong" pingpong 18515
pair "rping" rping 7174
pair "ib_write_bw" perftest 18515
typed counters "counters and resources"
ok "packets were counted" test "$(counter left0 tx_packets)" -gt 1000
typed nodes "their character devices"
like "the counters have names" "$LEFT_NODE $RIGHT_NODE" '^uverbs[0-9]+ uverbs[0-9]+$'
pair "ibv_rc_pingpong in containers" podman 18515
typed container "a device in a namespace without a name"
like "the character device is found" "$(eval "$(block node)")" '^uverbs[0-9]+$'
like "the device is active" "$(eval "$(block container-use)" 2>&1)" 'inside0.*PORT_ACTIVE'
typed end "all is taken down"
ok "no device is left" no_devices
