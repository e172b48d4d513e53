# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The constants of verbs by name. pyverbs has them in one module or, from about rdma-core 59 on, in classes of another one."""

try:
    from pyverbs.enums import *  # noqa: F401,F403 pylint: disable=wildcard-import,unused-wildcard-import
except ImportError:
    import enum

    import pyverbs.libibverbs_enums

    for found in vars(pyverbs.libibverbs_enums).values():
        if isinstance(found, type) and issubclass(found, enum.Enum):
            globals().update(found.__members__)
