"""Folders that cannot hold a queue manager are refused by name."""

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from engine.mq.supported_systems import check_place

LINUX = """\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 21 0:44 / /mnt/share rw,relatime shared:1 - nfs4 server:/export rw
31 21 0:45 / /mnt/my\\040share rw - cifs //server/share rw
32 21 0:46 / /mnt/share/disk rw - xfs /dev/sdb rw
"""
MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
//me@server/share on /Volumes/share (smbfs, nodev, nosuid, mounted by me)
server:/export on /Volumes/an export (nfs, nodev)
"""


@pytest.mark.parametrize(
    ("folder", "platform", "mounts", "said"),
    [
        ("/var/qm", "linux", LINUX, ""),
        ("/mnt/share/disk/qm", "linux", LINUX, ""),
        ("/mnt/share/qm", "linux", LINUX, "nfs4"),
        ("/mnt/my share/qm", "linux", LINUX, "cifs"),
        ("/var/qm", "darwin", MACOS, ""),
        ("/Volumes/share/qm", "darwin", MACOS, "smbfs"),
        ("/Volumes/an export/qm", "darwin", MACOS, "nfs"),
        ("/var/qm", "win32", "", "not on Windows"),
    ],
)
def test_network_file_systems_and_windows_are_refused_by_name(folder, platform, mounts, said):
    """The nearest mount above a folder counts, and what is local passes."""
    if not said:
        check_place(Path(folder), platform=platform, mounts=mounts)
        return
    with pytest.raises(ConfigurationException, match=said):
        check_place(Path(folder), platform=platform, mounts=mounts)
