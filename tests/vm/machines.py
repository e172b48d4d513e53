"""Properties of the machines that QEMU emulates."""


class Pc:
    """An x86-64 PC."""
    KIND = "x86"  # as fetch-qemu has it
    PROGRAM = "qemu-system-x86_64"
    DATA = ("qemu", "seabios")
    HOST = "x86_64"  # where it need not be emulated
    MACHINE = "pc"
    # Under emulation, the features left out make string copies and page walks slower.
    EMULATED = "max,-erms,-fsrm,-la57"
    BUILD = ""  # the folder in build/ that has programs for it
    CMDLINE = "console=ttyS0 tsc=reliable no_timer_check"


class Arm:
    """QEMU's own board for arm64."""
    KIND = "arm"
    PROGRAM = "qemu-system-aarch64"
    DATA = ("qemu",)
    HOST = "aarch64"
    MACHINE = "virt,gic-version=3"
    # Pointers are signed by a cheaper algorithm; vectors of any length would be saved at each switch.
    EMULATED = "max,pauth-impdef=on,sve=off,sme=off"
    BUILD = "arm64"
    CMDLINE = "console=ttyAMA0"
