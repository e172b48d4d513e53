#!/bin/bash
# UDP port 4791 belongs to one driver per network namespace. Beside rxe, sroce reports this and leaves nothing behind.
# timeout: 120
. "$(dirname "$0")/lib.sh"

at_exit hosts_down
modprobe rdma_rxe || skip_all "no rxe"
ip link add eth8 type veth peer name eth9
at_exit ip link delete eth8
for number in 8 9; do address init eth$number $number; done

# log_has REGEX: does the kernel log since the start of the suite match?
dmesg_start=$(dmesg | wc -l)
log_has() { dmesg | tail -n +$((dmesg_start + 1)) | grep -qE "$1"; }
devices() { for device in /sys/class/infiniband/*; do [ -e "$device" ] && echo "${device##*/}"; done; }

ok "rxe takes the port" rdma link add rxe8 type rxe netdev eth8
answer=$(rdma link add sroce9 type sroce netdev eth9 2>&1)
status=$?
ok "sroce cannot be added while rxe has the port" test $status -ne 0
like "rdma link add says that the address is in use" "$answer" 'Address already in use'
ok "the kernel's log names the netdev and rxe" log_has 'eth9: sroce: UDP port 4791 is in use.*rxe'
is "the failed attempt leaves no device" "$(devices)" rxe8
is "the failed attempt leaves no link" "$(rdma link show | grep -c sroce)" 0
not_ok "a second attempt fails as well" rdma link add sroce9 type sroce netdev eth9
not_ok "an attempt on rxe's netdev fails as well" rdma link add sroce8 type sroce netdev eth8
is "the second attempt leaves no device" "$(devices)" rxe8
HOST1=init HOST2=init D1=rxe8 D2=rxe8 IP1=10.0.0.8 IP2=10.0.0.8 G1=$(gid rxe8 10.0.0.8) G2=$(gid rxe8 10.0.0.8)
pair_run "rxe still works" 'ibv_rc_pingpong -d $D2 -g $G2 -n 10 -e -p $PORT' \
	'ibv_rc_pingpong -d $D1 -g $G1 -n 10 -e -p $PORT 127.0.0.1'

# Other namespaces have a port 4791 of their own
IP1=10.0.0.1 IP2=10.0.0.2
ok "two hosts in other namespaces" hosts_up
pair_run "sroce works in other namespaces at the same time" 'ibv_rc_pingpong -d $D2 -g $G2 -n 10 -e -c -p $PORT' \
	'ibv_rc_pingpong -d $D1 -g $G1 -n 10 -e -c -p $PORT $IP2'
hosts_down
is "the devices of these hosts are gone" "$(devices)" ""

# rxe 6.1 keeps the port as long as its module is there
ok "rxe unloads" modprobe -r rdma_rxe
ok "sroce can be added after rxe is unloaded" rdma link add sroce9 type sroce netdev eth9
HOST1=init HOST2=init D1=sroce9 D2=sroce9 IP1=10.0.0.9 IP2=10.0.0.9 G1=$(gid sroce9 10.0.0.9) G2=$(gid sroce9 10.0.0.9)
pair_run "sroce works after rxe is unloaded" 'ibv_rc_pingpong -d $D2 -g $G2 -n 10 -e -c -p $PORT' \
	'ibv_rc_pingpong -d $D1 -g $G1 -n 10 -e -c -p $PORT 127.0.0.1'

# The other way round
not_ok "rxe cannot be added while sroce has the port" sh -c 'modprobe rdma_rxe && rdma link add rxe8 type rxe netdev eth8'
is "sroce's device stays" "$(devices)" sroce9
pair_run "sroce still works" 'ibv_rc_pingpong -d $D2 -g $G2 -n 10 -e -c -p $PORT' \
	'ibv_rc_pingpong -d $D1 -g $G1 -n 10 -e -c -p $PORT 127.0.0.1'

# Any other program may have the port, for one of the two or both
rdma link delete sroce9
modprobe -qr rdma_rxe
# held FAMILY ADDRESS FILE [PYTHON]
held() {
	python3 -c "
import signal, socket
s = socket.socket(socket.$1, socket.SOCK_DGRAM)
${4:-}
s.bind(('$2', 4791))
signal.pause()" &
	holder=$!
	ok "a program holds the port: $1 ${4:+alone}" wait_for 20 grep -q ':12B7 ' "/proc/net/$3"
	not_ok "sroce cannot be added then" rdma link add sroce9 type sroce netdev eth9
	kill $holder
	wait $holder 2>/dev/null
	is "this attempt leaves no device and no socket" "$(devices)$(cat /proc/net/udp /proc/net/udp6 | grep -c ':12B7 ')" 0
}
held AF_INET 0.0.0.0 udp
held AF_INET6 :: udp6
held AF_INET6 :: udp6 "s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)"
ok "sroce can be added when the program has ended" rdma link add sroce9 type sroce netdev eth9
ok "the device is deleted" rdma link delete sroce9
is "the port is free" "$(cat /proc/net/udp /proc/net/udp6 | grep -c ':12B7 ')" 0

# Packets that arrive while the socket is made: if they entered its queue, nobody would read them.
python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    s.sendto(b"x" * 64, ("127.0.0.1", 4791))' &
flood=$!
at_exit kill $flood
refused() { awk '$1 == "Udp:" && $3 ~ /^[0-9]/ { print $3 }' /proc/net/snmp; }
before=$(refused)
more_refused() { [ "$(refused)" -gt $((before + 100)) ]; }
ok "packets to the port are sent" wait_for 20 more_refused
queued() { awk '$2 ~ /:12B7$/ && $5 !~ /:00000000$/ { print $5 }' /proc/net/udp; }
# Prints what waits in sockets that were made meanwhile.
made() {
	local i
	for ((i = 0; i < 50; i++)); do
		rdma link add sroce9 type sroce netdev eth9 || echo "no device"
		queued
		rdma link delete sroce9
	done
}
is "no packet waits in a socket that was made meanwhile" "$(made)" ""
