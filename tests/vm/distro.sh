# Root file systems of other releases of Debian. The scripts that make and use them source this file. Only root can do both.

SUITE_PACKAGES=(
	# what modules and provider are built with
	gcc make libc6-dev libibverbs-dev librdmacm-dev pkg-config
	# what the suites run
	iputils-ping ethtool nftables procps strace tshark jq iperf3 busybox-static xz-utils python3
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest infiniband-diags python3-pyverbs
)

# Programs that suites run if they are there: unstable can lack any of them for a while.
APPLICATIONS=(
	qperf ucx-utils libfabric-bin openmpi-bin python3-mpi4py mpich librpma0 fio hwloc-nox libteam-utils
	prometheus-node-exporter open-iscsi nvme-cli
)

# The mirror of this machine
mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
		grep -v security | head -n 1
}

# in_root ROOT [--with FOLDER] [NAME=VALUE]... COMMAND...: with the host's network, and a folder of the host's in its place; the mounts are gone
# afterwards
in_root() {
	local root=$1 folder=
	shift
	if [ "$1" = --with ]; then
		folder=$2
		shift 2
		mkdir -p "$root$folder"
	fi
	# shellcheck disable=SC2016
	unshare --mount sh -c '
		root=$1 folder=$2; shift 2
		mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t sysfs -o ro sys "$root/sys" || exit
		[ -z "$folder" ] || mount --bind "$folder" "$root$folder" || exit
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive INITRD=No "$@"' in_root "$root" "$folder" "$@"
}

# install ROOT PACKAGE...
install() {
	local root=$1
	shift
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	in_root "$root" apt-get -q -y install --no-install-recommends "$@"
}
