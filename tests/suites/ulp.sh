# For the suites about kernel users, sourced after lib.sh. Those listen and connect in the initial namespace only, so both hosts
# are there, as two ends of a veth pair, and rules make packets between them leave this host:
#
#     D1=sroce1                               D2=sroce2
#     ulp1, IP1 10.0.0.1/24    --- veth ---   ulp2, IP2 10.0.0.2/24

# rules NETDEV TABLE FROM TO [WHO]: routes packets from FROM to TO through NETDEV; "oif" is for rdma_cm's lookup of the reverse
# route. "0/0" is for sockets that are not bound to an address yet: they reach IP2 from IP1, as from another host.
rules() {
	ip route add "$4" dev "$1" src "$3" table "$2"
	ip rule add pref 10 iif lo from "${5:-$3}" to "$4" lookup "$2"
	ip rule add pref 10 oif "$1" lookup "$2"
}

no_rules() {
	ip rule add pref 0 lookup local
	while ip rule delete pref 10; do :; done
	ip rule delete pref 100
	ip link delete ulp1
} 2>/dev/null

# one_host NETDEV ADDRESS
one_host() {
	sysctl -qw "net/ipv4/conf/$1/rp_filter=0" "net/ipv4/conf/$1/accept_local=1" "net/ipv4/conf/$1/arp_ignore=1"
	ip addr add "$2/24" dev "$1" && ip link set "$1" up
}

ulp_hosts_up() {
	D1=sroce1 D2=sroce2 HOST1=init HOST2=init
	at_exit no_rules
	modprobe -q veth
	sysctl -qw net/ipv4/conf/all/rp_filter=0
	ip link add ulp1 type veth peer name ulp2 || return
	one_host ulp1 $IP1 && one_host ulp2 $IP2 || return
	rules ulp1 101 $IP1 $IP2 0/0
	rules ulp2 102 $IP2 $IP1
	ip rule add pref 100 lookup local && ip rule delete pref 0 || return
	add_devices
}

add_devices() {
	rdma link add $D1 type sroce netdev ulp1 && rdma link add $D2 type sroce netdev ulp2 &&
		G1=$(gid $D1 $IP1) && G2=$(gid $D2 $IP2)
}

# used DEVICE KIND: how many objects of that kind (mr, qp, cm_id ...) there are
used() { rdma resource show "$1" 2>/dev/null | grep -oP " $2 \K[0-9]+"; }
