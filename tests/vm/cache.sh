# The cache that is kept between runs. The shell scripts here source this file. The folder can be removed at any time, and is
# created again.

SROCE_CACHE=${SROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sroce}
VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM/../.." && pwd)
mkdir -p "$SROCE_CACHE"
# The folder of depmod and modprobe; on Debian only root has it in PATH.
PATH=$PATH:/usr/sbin:/sbin

die() { echo "${0##*/}: $*" >&2; exit 1; }

# locked FILE COMMAND...: holds a lock, so that two runs do not fill the cache at the same time
locked() {
	local lock=$SROCE_CACHE/$1.lock
	shift
	(flock 9 && "$@") 9>"$lock"
}

# The newest installed kernel headers of the tested flavour: 6.1.0-NN-amd64
headers_release() {
	local kdir
	# Not the links "build" that have lost their headers
	kdir=$(printf '%s\n' "${SROCE_INSTALLED:-}"/lib/modules/*/build/Makefile | sort -V | tail -n 1)
	[ -e "$kdir" ] || die "no kernel headers installed: run tests/setup"
	basename "${kdir%/build/Makefile}"
}

package_version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null; }

# The oldest installed source: kernels built from it are 6.1, as in Debian 12.
source_package() {
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'linux-source-[0-9]*' 2>/dev/null || true; } |
		sed -n 's/^installed //p' | sort -V | head -n 1
}

# unpack_source FOLDER PACKAGE
unpack_source() {
	[ -e "$1/.unpacked" ] && return
	rm -rf "$1" && mkdir -p "$1"
	nice tar -C "$1" --strip-components=1 -xf "/usr/src/$2.tar.xz"
	touch "$1/.unpacked"
}

# Unpacks Debian's kernel source once, and prints the folder.
kernel_source() {
	local package dir
	package=$(source_package)
	[ -n "$package" ] || die "linux-source is not installed: run tests/setup"
	dir=$SROCE_CACHE/linux-source-$(source_version)
	locked source unpack_source "$dir" "$package"
	echo "$dir"
}

# Of the kernel source
source_version() { package_version "$(source_package)"; }

# fragments_key FILE...: version of the source and contents of the fragments without comments
fragments_key() {
	local sum
	sum=$(sed -e '/^# CONFIG_/b' -e '/^#/d' "$@" | sort | sha256sum | cut -c 1-10)
	echo "$(source_version)-$sum"
}
