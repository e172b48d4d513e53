# How build-debug-kernel, build-uml-kernel and build-uml-smp-kernel build, sourced by them.
# They set ARCH, FRAGMENTS, TARGETS and DIR. They define patch_source and, if there are modules to add, add_modules; the argument
# of both is the folder of the source. GONE, a regular expression, may name symbols that this source lacks. After the build, $DIR
# contains
#   build/    the build tree (KDIR of modules for it)
#   modules/  lib/modules/RELEASE
#   release   the release string

kbuild() { nice make -s -C "$1" ARCH="$ARCH" "${@:2}"; }

configure() {
	local source
	source=$(kernel_source)
	patch_source "$source"
	kbuild "$source" O="$1" tinyconfig
	(cd "$source" && scripts/kconfig/merge_config.sh -m -O "$1" "$1/.config" "${FRAGMENTS[@]}")
	kbuild "$1" olddefconfig
	kbuild "$1" syncconfig
}

# Kconfig drops symbols silently. The lane would then test less, and nobody would notice.
check_config() {
	local line missing=0
	while read -r line; do
		grep -qxF "$line" "$1/.config" || { echo "not in the configuration: $line"; missing=1; }
	done < <(grep -hE "^(# )?CONFIG_" "${FRAGMENTS[@]}" | grep -vE "${GONE:-^$}")
	return $missing
}

build() {
	[ -e "$DIR/release" ] && return
	mkdir -p "$DIR/build"
	configure "$DIR/build"
	check_config "$DIR/build"
	kbuild "$DIR/build" -j"$(nproc)" "${TARGETS[@]}"
	kbuild "$DIR/build" INSTALL_MOD_PATH="$DIR/modules" modules_install
	[ "$(type -t add_modules)" != function ] || add_modules "$(kernel_source)"
	kbuild "$DIR/build" kernelrelease >"$DIR/release.new"
	mv "$DIR/release.new" "$DIR/release"
}

# build_once NAME: builds the kernel if the cache does not have it, and prints its folder
build_once() {
	if ! [ -e "$DIR/release" ]; then
		echo "building the $1 kernel, once: about 6 minutes of two processors" >&2
		mkdir -p "$DIR"
		# In the background, because after a plain "||" errexit would be off inside the function.
		locked "$1" build >"$DIR/log" 2>&1 &
		wait $! || { tail -n 20 "$DIR/log" >&2; die "the $1 kernel does not build"; }
	fi
	echo "$DIR"
}
