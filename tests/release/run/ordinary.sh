# Sourced, after setting TOP, by tests of the steps of an ordinary user in a tree of their own. If the test runs as root, it
# goes on as "nobody" in a mount namespace: there an overlay of the tree, with everything that was built in it, has the path of
# the tree and belongs to "nobody", who can also reach the cache. The tree itself does not change. TAP.

TESTS=0
FAILED=0

# With "metacopy", a change of the owner does not copy the contents of a file.
become_nobody() {
	local work status
	. "$TOP/tests/vm/cache.sh"
	{ "$VM/make-initramfs" "$("$VM/fetch-kernel")" && "$VM/fetch-qemu"; } >/dev/null || { echo "Bail out! no guest"; exit 1; }
	work=$(mktemp -d /tmp/sroce-run-test.XXXXXX)
	mkdir "$work"/{upper,work,cache,home}
	chmod 755 "$work"
	chown nobody "$work/home"
	# shellcheck disable=SC2016
	unshare --mount sh -c '
		mount -t overlay -o "metacopy=on,lowerdir=$1,upperdir=$3/upper,workdir=$3/work" own "$1" &&
			find "$1" -xdev -path "$1/.git" -prune -o -exec chown -h nobody:nogroup {} + &&
			mount --bind "$2" "$3/cache" && cd "$3/home" &&
			exec setpriv --reuid nobody --regid nogroup --clear-groups env -i PATH="$PATH" HOME="$3/home" LANG=C.UTF-8 \
				SROCE_CACHE="$3/cache" "$4"' - "$TOP" "$SROCE_CACHE" "$work" "$(realpath "$0")"
	status=$?
	rm -rf "$work" "/tmp/sroce-$(id -u nobody)"
	exit $status
}

# check WHAT COMMAND...
check() {
	local what=$1
	shift
	TESTS=$((TESTS + 1))
	if "$@"; then
		echo "ok $TESTS - $what"
	else
		FAILED=1
		echo "not ok $TESTS - $what"
		sed 's/^/#   /' "$OUTPUT" | tail -n 40
	fi
}
says() { grep -qE -- "$1" "$OUTPUT"; }
# run COMMAND...: sets STATUS, leaves what it says in $OUTPUT
run() { "$@" >"$OUTPUT" 2>&1 </dev/null; STATUS=$?; }

[ "$(id -u)" != 0 ] || become_nobody
# As Debian's /etc/profile sets it
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games
OUTPUT=$(mktemp)
FOLDER=$(mktemp -d)
trap 'rm -rf "$OUTPUT" "$FOLDER"' EXIT
