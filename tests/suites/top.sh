#!/bin/bash
# sroce-top during traffic: its figures are those of the kernel, in each output format.
# timeout: 400
# lanes: vm
. "$(dirname "$0")/lib.sh"

TOP=$SROCE_TOP/tools/sroce-top
VIEW=/run/top.json
KEYS=/run/top.keys SCREEN=/run/top.screen
at_exit rm -f $VIEW $KEYS $SCREEN

view() { "$TOP" --json "$@" >$VIEW; }

# field EXPRESSION: evaluates a Python expression for the last view: v is the view, d its devices, q its QPs
field() {
	python3 -c "
import json
with open('$VIEW') as lines:
    v = json.loads(list(lines)[-1])
d, q = v['devices'], v['qps']
print($1)"
}

holds() { [ "$(field "bool($1)")" = True ]; }

# on_terminal: in the background, with a pipe for the keys; the output to the terminal is in $SCREEN
on_terminal() {
	mkfifo $KEYS
	TERM=xterm script -qfec "stty rows 40 cols 160; $TOP --interval 0.5" $SCREEN <$KEYS >/dev/null 2>&1 &
	TERMINAL=$!
	exec 9>$KEYS
}

# interval_after INTERVAL KEYS: prints the interval after these keys. It is not read from the terminal, because curses rewrites
# only the characters that changed.
interval_after() {
	python3 - "$TOP" "$@" <<-'END'
		import sys, types
		top = {}
		exec(open(sys.argv[1]).read().rpartition("\ntry:\n    main()")[0], top)
		screen = top["Screen"].__new__(top["Screen"])
		screen.options = types.SimpleNamespace(interval=float(sys.argv[2]))
		for key in sys.argv[3]:
		    screen.key(key)
		print(f"{screen.options.interval:g}")
	END
}

hosts_up || { fail "two hosts"; exit 1; }

ok "a view of idle devices" view --interval 0.2
is "the view has both devices" "$(field "' '.join(x['device'] for x in d)")" "sroce1 sroce2"
ok "idle devices have no bytes per second" holds "all(x['tx_bytes_per_second'] == 0 for x in d)"
is "idle devices have their GSI QPs" "$(field "' '.join(x['type'] for x in q)")" "GSI GSI"

# The lowest priority: both programs poll, and sroce-top is slow enough under emulation.
# shellcheck disable=SC2016 # the variables are the other shell's
endless 'nice -n 19 ib_write_bw -d $D2 -x $G2 -p $PORT -F -s 4096 --run_infinitely' \
	'nice -n 19 ib_write_bw -d $D1 -x $G1 -p $PORT -F -s 4096 --run_infinitely $IP2' || fail "traffic"
ok "a view beside traffic" view
ok "the sender shows sent bytes" holds "d[0]['tx_bytes_per_second'] > 4096"
ok "the receiver shows received bytes" holds "d[1]['rx_bytes_per_second'] > 4096"
ok "bytes per packet are those of the path MTU and headers" \
	holds "1024 < d[0]['tx_bytes_per_second'] / d[0]['tx_packets_per_second'] < 1124"
ok "there are no drops" holds "d[0]['drops_per_second'] == 0"
is "the busiest QPs are those of the two programs" "$(field "sorted(x['pid'] for x in q[:2]) == sorted([$SERVER, $CLIENT])")" True
ok "the busiest QP has its type, state, process and rate" \
	holds "q[0]['state'] in ('RTR', 'RTS') and q[0]['type'] == 'RC' and q[0]['process'].startswith('ib_write_bw') and
               max(q[0]['tx_packets_per_second'], q[0]['rx_packets_per_second']) > 1"
ok "counters are those of the kernel" holds "0 < d[0]['counters']['tx_packets'] <= $(counter "$D1" tx_packets)"
ok "three views in JSON" view --interval 0.2 --count 3
is "each view is a line" "$(wc -l <$VIEW)" 3
ok "an unprivileged user can run it" setpriv --reuid=65534 --regid=65534 --clear-groups "$TOP" --json --interval 0.2

# The examples of the manual page, unchanged. The second does not end by itself, and writes to a file, as a log does.
if command -v jq >/dev/null; then
	mapfile -t examples < <(sed -n 's/^\.Dl //p' "$TOP.1")
	is "the manual page has two examples" ${#examples[@]} 2
	mkdir /run/top.bin
	at_exit rm -r /run/top.bin
	ln -s "$TOP" /run/top.bin/sroce-top
	export PATH=$PATH:/run/top.bin
	like "manual page: the device that sends most" "$(eval "${examples[0]}" 2>&1)" '^sroce[12]$'
	setsid bash -c "${examples[1]}" >/run/top.log 2>&1 &
	logger=$!
	at_exit rm -f /run/top.log
	ok "manual page: the log of retransmissions gets a line" wait_for 60 test -s /run/top.log
	kill -- -$logger
	like "manual page: the log has both devices" "$(head -n 1 /run/top.log)" '^\[\["sroce1",[0-9.]+\],\["sroce2",[0-9.]+\]\]$'
else
	skip "the manual page's examples" "there is no jq"
fi

text=$("$TOP" --count 1 --interval 0.5 --sort device | tr '\n' '|')
like "text output has the devices" "$text" 'DEVICE +NETDEV +STATE +TX B/s.*\|sroce1/1 +.*ACTIVE +[1-9][0-9.]*[kMGT]? '
like "text output has the QPs" "$text" '\|sroce1 +[0-9]+ +RC +RTS +[0-9]+ +ib_write_bw\['
on_terminal
ok "a terminal shows the view" wait_for 30 grep -q 'sort by (rate)' $SCREEN
like "a terminal shows devices and QPs" "$(tr -d '\r\n' <$SCREEN)" 'TX B/s.*ACTIVE.*ib_write_bw'
printf s >&9
ok "a key sorts the QPs" wait_for 30 grep -q '(\?device)' $SCREEN
printf q >&9
ok "key q ends it" wait $TERMINAL
exec 9>&-
for want in 1:+:2 1:-:0.5 40:+++:60 1:---:0.25 3600:+:3600 3600:-:1800 0.05:-:0.05 0.05:+:0.1; do
	IFS=: read -r begin keys end <<<"$want"
	is "an interval of $begin s after $keys" "$(interval_after "$begin" "$keys")" "$end"
done

# An error: packets for a QP that was destroyed, while the client goes on
stop "$SERVER"
ok "a view after the peer died" wait_for 20 eval 'view && holds "d[0][\"trouble\"] or d[1][\"trouble\"]"'
like "text output has the counters of errors" "$("$TOP" --count 1 --interval 0.2 | tr '\n' '|')" 'COUNTER +TOTAL +PER s\|sroce[12] +[a-z_]+ +[1-9]'
stop "$CLIENT"

not_ok "an interval of 0 is refused" "$TOP" --json --interval 0
like "without the rdma tool it says what to install" "$(PATH=/nowhere /usr/bin/python3 "$TOP" --json 2>&1)" 'install iproute2'

# Terminals without colours, or with a cursor that cannot be hidden
for kind in vt100 dumb ansi; do
	ok "a terminal of kind $kind" env TERM=$kind script -qec "$TOP --interval 0.2 --count 1" /dev/null </dev/null
done
like "an unknown terminal is reported" \
	"$(TERM=nobody script -qec "$TOP --count 1" /dev/null </dev/null)" 'sroce-top: the terminal: '

# A program whose name contains terminal control sequences and invalid UTF-8
name=$'q\e[7m\xff'
cp "$(command -v ibv_rc_pingpong)" "/run/$name"
at_exit rm "/run/$name"
(exec_on h1 "/run/$name" -d $D1 -g "$G1" -p 19999) >/dev/null 2>&1 &
named=$!
ok "a process whose name has control characters" wait_for 20 eval "view --interval 0.1 && holds \"any(x['pid'] == $named for x in q)\""
text=$("$TOP" --count 1 --interval 0.2)
like "text output removes control characters from names" "$text" "  q\?\[7m.\[$named\]"
stop $named

# rdma fails, as it does if a device is removed while it lists the devices
FAKE=/run/top.fake
mkdir $FAKE
at_exit rm -r $FAKE
cat >$FAKE/rdma <<-END
	#!/bin/sh
	for file in $FAKE/left.*; do
		[ ! -e "\$file" ] || { rm "\$file"; echo 'error: No such device' >&2; exit 1; }
	done
	exec $(command -v rdma) "\$@"
END
chmod +x $FAKE/rdma
touch $FAKE/left.1 $FAKE/left.2
ok "rdma is run again if it fails twice" env PATH="$FAKE:$PATH" "$TOP" --json --interval 0.2
touch $FAKE/left.{1..6}
is "the error of rdma is reported if it persists" "$(PATH=$FAKE:$PATH "$TOP" --json 2>&1)" \
	"sroce-top: rdma -j link show: error: No such device"

# A device without counters, such as siw's: rdma fails for it, and for all devices when it reaches this one
cat >$FAKE/rdma <<-END
	#!/bin/sh
	case "\$*" in
	'-j statistic show' | *plain0/1) echo '[]'; echo 'error: Invalid argument' >&2; exit 1 ;;
	'-j link show') "$(command -v rdma)" "\$@" | sed '1s|^.|[{"ifname":"plain0","port":1,"state":"ACTIVE"},|' ;;
	*) exec "$(command -v rdma)" "\$@" ;;
	esac
END
view_beside() { PATH=$FAKE:$PATH view --interval 0.2 "$@"; }
for all in "" --all; do
	# shellcheck disable=SC2086 # none, or one
	ok "a view with a device without counters $all" view_beside $all
	is "the view has the devices that have counters" "$(field "' '.join(x['device'] for x in d)")" "sroce1 sroce2"
done

# A device that is removed between two views
: >$VIEW
"$TOP" --json --count 10 --interval 0.5 >$VIEW &
looker=$!
ok "there is a view" wait_for 20 test -s $VIEW
rdma link delete "$D1"
ok "a device is deleted between two views" wait $looker
is "the deleted device is not in the last view" "$(field "' '.join(x['device'] for x in d)")" "sroce2"
