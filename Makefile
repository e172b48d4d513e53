# sroce: "make help" lists what can be made.

# From the environment only: the kernel's makefiles would take it from a command line.
O ?= $(CURDIR)/build

ifneq ($(words $(CURDIR)) $(words $(O)),1 1)
$(error the kernel's makefiles can have no spaces in paths, but there are some in "$(CURDIR)" or O="$(O)")
endif

# Newest installed kernel headers, unless KDIR= names others. A link "build" without headers comes with the kernels of Fedora
# and Ubuntu. SROCE_INSTALLED is another root in tests.
KDIR ?= $(patsubst %/Makefile,%,$(shell printf '%s\n' $(SROCE_INSTALLED)/lib/modules/*/build/Makefile | sort -V | tail -n 1))
KVER = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)

# The kernel leaves objects beside the sources, so it is given a mirror of links for each kernel.
MIRROR = $(O)/kmod-$(KVER)
MODULE = $(O)/sroce.ko
# Objects for another kernel of the same release, such as one that has been built with other options, go.
for_kernel = { [ ! -e $1/.kdir ] || [ "$$(cat $1/.kdir)" = "$(realpath $(KDIR))" ] || rm -rf $1; } && mkdir -p $1 && echo "$(realpath $(KDIR))" >$1/.kdir
# No type information: it would need the kernel's vmlinux, which headers do not include.
KBUILD = $(MAKE) -C $(KDIR) M=$(MIRROR) CONFIG_DEBUG_INFO_BTF_MODULES= $(if $(V),,-s)

NO_HEADERS = no kernel headers in $(KDIR): install linux-headers-$(or $(shell dpkg --print-architecture 2>/dev/null),amd64) (Debian; \
	or run tests/setup), linux-headers-generic (Ubuntu) or kernel-devel (Fedora)

.PHONY: all module tester provider programs debug-module uml-module mirror install uninstall setup check check-abi check-debug conformance fuzz bench demo shell clean help

## all            module and provider, into build/ (the default)
all: module provider

## module         build/sroce.ko for the newest kernel headers, or KDIR=
module: mirror
	+@flock $(O)/.lock $(KBUILD) modules
	@cmp -s $(MIRROR)/sroce.ko $(MODULE) || { mkdir -p $(dir $(MODULE)) && cp $(MIRROR)/sroce.ko $(MODULE); }

mirror:
	@[ -e "$(KDIR)/Makefile" ] || { echo "$(NO_HEADERS)" >&2; exit 1; }
	@$(call for_kernel,$(MIRROR))
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/VERSION $(CURDIR)/drivers $(CURDIR)/include $(MIRROR)/
	@find $(MIRROR) -xtype l -delete

# The module of tests/kmod, beside the module that it tests
TESTER = $(dir $(MODULE))sroce_test.ko
TESTER_MIRROR = $(O)/tester-$(KVER)

tester:
	@[ -e "$(KDIR)/Makefile" ] || { echo "$(NO_HEADERS)" >&2; exit 1; }
	@$(call for_kernel,$(TESTER_MIRROR)) && mkdir -p $(dir $(TESTER))
	@cp -rsf $(CURDIR)/tests/kmod/. $(TESTER_MIRROR)/
	+@flock $(O)/.lock $(MAKE) -C $(KDIR) M=$(TESTER_MIRROR) CONFIG_DEBUG_INFO_BTF_MODULES= $(if $(V),,-s) modules
	@cmp -s $(TESTER_MIRROR)/sroce_test.ko $(TESTER) || cp $(TESTER_MIRROR)/sroce_test.ko $(TESTER)

## provider       build/libsroce-rdmav34.so and build/sroce.driver
provider:
	+@$(PROVIDER)

## debug-module   build/debug/sroce.ko for the debug kernel of tests/vm (built on first use)
debug-module:
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/build-debug-kernel)/build \
		MODULE=$(O)/debug/sroce.ko UBSAN_SANITIZE=y

## kcsan-module   build/kcsan/sroce.ko for the kernel that detects data races (built on first use)
.PHONY: kcsan-module
kcsan-module:
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/build-debug-kernel kcsan)/build \
		MODULE=$(O)/kcsan/sroce.ko

## 6.12-module    build/6.12/sroce.ko for Debian's kernel 6.12 (downloaded on first use)
6.%-module:
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/fetch-kernel 6.$*)/build \
		MODULE=$(O)/6.$*/sroce.ko

## trixie-module  build/trixie/sroce.ko for that release's kernel, made in a root of that release with its compiler; also
##                bookworm, sid, and with a series of its backports: trixie-7-module; arm64-module for Debian 12 on arm64
OTHER_RELEASES = bookworm trixie sid arm64
.PHONY: $(OTHER_RELEASES:=-module)
$(OTHER_RELEASES:=-module):
	@tests/vm/build-in $(@:-module=) module tester
$(OTHER_RELEASES:=-%-module):
	@tests/vm/build-in $(@:-module=) module tester

# What the suites run in the guest besides stock programs; built here, where a compiler is fast
programs: tester
	+@for folder in $(wildcard tests/verbs tests/interop tests/wire); do \
		[ ! -e $$folder/Makefile ] || $(MAKE) --no-print-directory -s -C $$folder || exit; done

## uml-module     build/uml/sroce.ko for User Mode Linux with debugging; uml-fast-module for the one without
uml-module: $(O)/uml-clock.so
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/build-uml-kernel)/build \
		MODULE=$(O)/uml/sroce.ko ARCH=um UBSAN_SANITIZE=y

.PHONY: uml-fast-module
uml-fast-module: $(O)/uml-clock.so
	+@$(MAKE) --no-print-directory module KDIR=$$(tests/vm/build-uml-kernel fast)/build \
		MODULE=$(O)/uml-fast/sroce.ko ARCH=um

## uml-smp-module build/uml-smp/sroce.ko for User Mode Linux with several processors; uml-smp-fast-module as above
.PHONY: uml-smp-module uml-smp-fast-module
uml-smp-module: $(O)/uml-clock.so
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/build-uml-smp-kernel)/build \
		MODULE=$(O)/uml-smp/sroce.ko ARCH=um UBSAN_SANITIZE=y

uml-smp-fast-module: $(O)/uml-clock.so
	+@$(MAKE) --no-print-directory module tester KDIR=$$(tests/vm/build-uml-smp-kernel fast)/build \
		MODULE=$(O)/uml-smp-fast/sroce.ko ARCH=um

$(O)/uml-clock.so: tests/vm/uml/clock.c
	@mkdir -p $(O)
	@$(CC) -O2 -Wall -shared -fPIC -o $@ $<

# --- a real host ---

PREFIX ?= /usr
MODULES = $(DESTDIR)/lib/modules/$(KVER)/updates
MAN = $(PREFIX)/share/man
# "su" without "-" leaves a user's PATH, which lacks the folder of depmod.
DEPMOD = PATH=$$PATH:/usr/sbin:/sbin depmod
# The administrator's place, too: what is not ours stays as it is.
RULES = packaging/udev/60-rdma-persistent-naming.rules
INSTALLED_RULES = $(DESTDIR)/etc/udev/rules.d/$(notdir $(RULES))
# The administrator copies it, as the README says.
COPIED_UNIT = $(DESTDIR)/etc/systemd/system/sroce@.service
OUR_RULES = grep -sqF "$$(sed -n 2p $(RULES))" $(INSTALLED_RULES)
PROVIDER = $(MAKE) --no-print-directory -C userspace-provider O=$(O) $(if $(V),,-s)

# The packages have the same files, and dpkg does not restore settings that were removed. After "apt remove" it would delete
# ours when the packages are purged.
.PHONY: no-packages
no-packages:
	@! dpkg-query -W -f '$${db:Status-Status}\n' sroce-dkms libibverbs-sroce 2>/dev/null | grep -qvx not-installed || \
		{ echo "The packages are installed, or their settings are. Purge them first: apt purge sroce-dkms libibverbs-sroce" >&2; exit 1; }

## install        module, provider and its registration, sroce-top, udev rule, manual pages; DESTDIR= and KDIR= are honoured
install: $(if $(DESTDIR),,no-packages) all
	install -D -m 644 $(MODULE) $(MODULES)/sroce.ko
	$(if $(DESTDIR),,$(DEPMOD) $(KVER))
	install -D -m 755 tools/sroce-top $(DESTDIR)$(PREFIX)/bin/sroce-top
	@if [ ! -e $(INSTALLED_RULES) ] || $(OUR_RULES); then install -v -D -m 644 $(RULES) $(INSTALLED_RULES); else \
		echo "$(INSTALLED_RULES) is not ours, and stays: it decides how udev calls devices" >&2; fi
	install -D -m 644 tools/sroce-top.1 $(DESTDIR)$(MAN)/man1/sroce-top.1
	install -D -m 644 packaging/man/sroce.4 $(DESTDIR)$(MAN)/man4/sroce.4
	+$(PROVIDER) install mandir=$(MAN)

## uninstall      removes what install put there, for all kernels
uninstall: $(if $(DESTDIR),,no-packages)
	@for folder in $(DESTDIR)/lib/modules/*/updates; do \
		[ -e "$$folder/sroce.ko" ] || continue; \
		rm -v "$$folder/sroce.ko" && $(if $(DESTDIR),:,$(DEPMOD) "$$(basename "$${folder%/updates}")") || exit; \
	done
	rm -f $(DESTDIR)$(PREFIX)/bin/sroce-top $(DESTDIR)$(MAN)/man1/sroce-top.1 $(DESTDIR)$(MAN)/man4/sroce.4
	@if cmp -s $(RULES) $(INSTALLED_RULES); then rm -v $(INSTALLED_RULES); elif [ -e $(INSTALLED_RULES) ]; then \
		echo "$(INSTALLED_RULES) is not as it was installed, and stays" >&2; fi
	@if [ -e $(COPIED_UNIT) ]; then \
		echo "$(COPIED_UNIT) stays: disable what it has enabled (systemctl disable sroce@eth0), and delete it" >&2; fi
	+$(PROVIDER) uninstall mandir=$(MAN)

# --- releases ---

## dist           build/sroce-VERSION.tar.xz, the release: builds without git
.PHONY: dist
dist:
	@packaging/dist $(O)

## deb            sroce-dkms and libibverbs-sroce for this release of Debian, into build/deb
.PHONY: deb
deb:
	@packaging/deb $(O)/deb

## upstream-patch what would go into the kernel and into rdma-core, as patches for "git am", into build/upstream
.PHONY: upstream-patch
upstream-patch: setup
	@packaging/upstream/run $(O)/upstream

# --- tests ---

LANES ?= unit static vm

## setup          the packages that building and testing need (Debian); setup-run: only those for demo, shell and sroce-run
setup:
	@tests/setup

.PHONY: setup-run
setup-run:
	@tests/setup --run

# A distro without a kernel means its own
SYSTEM = $(addprefix --kernel ,$(KERNEL)) $(addprefix --distro ,$(DISTRO))

## check          unit, static and VM tests; SUITE=name runs one suite, LANES="unit vm" some lanes, KERNEL=6.12, DISTRO=trixie, MINUTES=20
check: setup
	@tests/check $(addprefix --minutes ,$(MINUTES)) $(SYSTEM) $(if $(SUITE),$(addprefix --suite ,$(SUITE)),$(addprefix --lane ,$(LANES)))

## check-abi      the provider's declarations against rdma-core's own headers, 56.1 and 65.0, and its build in those trees; SROCE_RDMA_CORE= for 36, 39, 57 to 64,
##                RELEASES=64.0 for one of them
check-abi: setup
	+@$(PROVIDER) check-abi

## check-rdma-core programs of rdma-core 57 to 64 in a guest, after make check-abi SROCE_RDMA_CORE=; RELEASES= as there
.PHONY: check-rdma-core
check-rdma-core: setup
	+@$(MAKE) --no-print-directory all
	@tests/release/rdma-core/check

## check-compat   module and provider of now with those of the first release that has the same ABI version, both ways
.PHONY: check-compat
check-compat: setup
	+@$(MAKE) --no-print-directory all
	@tests/release/compat/check

## check-selftests the kernel's selftests of rxe with sroce in its place, in a guest with the newest kernel that Debian 13 has
.PHONY: check-selftests
check-selftests: setup
	+@$(MAKE) --no-print-directory trixie-7-module
	@tests/release/selftests/check

## check-upstream the kernel's part of upstream-patch: applies, checkpatch, builds without anything of older kernels, runs in a guest;
##                QUICK=1 builds few files of most patches, PATCHES="bare 11-19" some patches
.PHONY: check-upstream
check-upstream: setup
	+@$(MAKE) --no-print-directory provider trixie-7-module
	@tests/release/upstream/check $(PATCHES)

## check-deb      the packages: built, installed, used and purged on Debian 12 and 13; DISTRO=trixie on one of them
.PHONY: check-deb
check-deb: setup
	@tests/release/deb/check $(or $(DISTRO),bookworm trixie)

## check-debug    a selection of the VM suites on an emulated kernel with KASAN, lockdep, kmemleak and more, two processors and
##                preemption; SUITE=name runs one suite
check-debug: setup
	@tests/check --lane debug $(addprefix --suite ,$(SUITE))

## check-uml      the VM suites natively on User Mode Linux: KASAN, lockdep and more on one processor, then KASAN on two;
##                SUITE=name runs one
.PHONY: check-uml
check-uml: setup
	@tests/check --lane uml --lane uml-smp $(addprefix --suite ,$(SUITE))

## check-links    every kind of netdev with every program and address family; KERNEL=6.12, DISTRO=trixie, KINDS="vlan vrf"
.PHONY: check-links
check-links: setup
	+@$(MAKE) --no-print-directory all programs $(addsuffix -module,$(filter-out stock,$(or $(KERNEL),$(DISTRO))))
	$(if $(DISTRO),@tests/vm/build-in $(DISTRO) provider)
	@mkdir -p $(O)/links
	@tests/vm/guest $(SYSTEM) --taps --timeout 7200 --dmesg $(O)/links/guest.dmesg -- \
		env LINKS=all KINDS="$(KINDS)" tests/vm/run-suites inf 7000:links.sh | tee $(O)/links/guest.log
	@grep -q '^1\.\.' $(O)/links/guest.log && ! grep '^not ok\|^@@ end [^0]' $(O)/links/guest.log

## check-nics     ten network cards that QEMU emulates, in two guests; KERNEL=6.12, CARDS="igb tulip"
.PHONY: check-nics
check-nics: setup
	+@$(MAKE) --no-print-directory all programs $(addsuffix -module,$(filter-out stock,$(or $(KERNEL),$(DISTRO))))
	$(if $(DISTRO),@tests/vm/build-in $(DISTRO) provider)
	@mkdir -p $(O)/nics
	@for card in $(or $(CARDS),igb e1000e e1000 vmxnet3 rtl8139 pcnet ne2k_pci tulip i82559er usb-net); do \
		tests/vm/pair $(SYSTEM) --taps --cards $$card --capture --timeout 3600 --dmesg $(O)/nics/$$card.dmesg -- \
			tests/vm/run-suites inf 3500:vm-nics.sh || echo "1| not ok - $$card: all tests"; \
	done | tee $(O)/nics/guests.log
	@grep -q '^1| 1\.\.' $(O)/nics/guests.log && ! grep '^[12]| \(not ok\|@@ end [^0]\)' $(O)/nics/guests.log

## check-kcsan    the VM suites on a kernel that detects data races of two processors; SUITE=name runs one
.PHONY: check-kcsan
check-kcsan: setup
	@tests/check --lane kcsan $(addprefix --suite ,$(SUITE))

## conformance    Documentation/conformance.rst: rdma-core's tests on sroce and rxe, features and the tests that show them
conformance: setup
	@tests/release/conformance/generate --kernel stock --kernel 6.12

SEED ?= $(shell date +%s)
PACKETS ?= 500000

## fuzz           10 million packets natively, a million in a debug guest; SEED= repeats a run
fuzz: setup
	@echo "SEED=$(SEED)"
	+@$(MAKE) -s -C tests/fuzz check RUNS=1000000 LEAST=10000000 SEED=$$(($(SEED) % 4294967295 + 1))
	+@$(MAKE) --no-print-directory all programs uml-module
	@tests/vm/guest --kernel uml --timeout 14400 --dmesg $(O)/fuzz/guest.dmesg -- \
		env SEED=$(SEED) PACKETS=$(PACKETS) tests/vm/run-suites inf 14000:packets.sh | tee $(O)/fuzz/guest.log
	@grep -q '^1\.\.' $(O)/fuzz/guest.log && ! grep '^not ok\|^@@ end [^0]' $(O)/fuzz/guest.log

ROUNDS ?= 3000
TIMES ?= 300
AT_ONCE ?= 1

## soak           ROUNDS of objects; links, netdevs, the module go under traffic TIMES, AT_ONCE; 1 GiB with 1 % lost; KERNEL=debug
.PHONY: soak
soak: setup
	+@$(MAKE) --no-print-directory all programs $(addsuffix -module,$(filter-out stock,$(KERNEL)))
	@mkdir -p $(O)/soak
	@tests/vm/guest $(SYSTEM) --mem 6G --timeout 36000 --dmesg $(O)/soak/guest.dmesg -- \
		env ROUNDS=$(ROUNDS) TIMES=$(TIMES) AT_ONCE=$(AT_ONCE) MIB=1024 PLACES=0 \
		tests/vm/run-suites inf 6000:networks.sh 6000:exhaustion.sh 30000:lifetimes.sh | \
		tee $(O)/soak/guest.log
	@[ "$$(grep -c '^1\.\.' $(O)/soak/guest.log)" = 3 ] && ! grep '^not ok\|^@@ end [^0]' $(O)/soak/guest.log

## bench          sroce, rxe and TCP measured side by side, into build/bench; QUICK=1, DOC=1 for performance.rst
bench: setup
	+@$(MAKE) --no-print-directory all
	@tests/bench/run $(if $(QUICK),--quick) $(if $(DOC),--doc) $(if $(UML),--uml)

## demo           two hosts in a VM: pingpong, bandwidth, latency and rping over sroce, with a short report
demo: setup-run
	@echo "building module and provider"
	+@$(MAKE) --no-print-directory all
	@tests/vm/guest --timeout 580 -- tests/vm/demo

## shell          a prompt in the guest, module and provider installed; KERNEL=debug, KERNEL=trixie-7, DISTRO=trixie
shell: $(if $(KERNEL)$(DISTRO),setup,setup-run)
	+@$(MAKE) --no-print-directory all $(addsuffix -module,$(filter-out stock,$(or $(KERNEL),$(DISTRO))))
	$(if $(DISTRO),@tests/vm/build-in $(DISTRO) provider)
	@tests/vm/guest $(SYSTEM) --shell

## clean          removes build/; the cache of kernels stays
clean:
	rm -rf $(O)

## help           this list
help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)
