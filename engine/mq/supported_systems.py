"""Places where a queue manager cannot be: Windows, and file systems of other machines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from engine.errors import ConfigurationException

# Neither locks nor mapped files hold there what the store needs of them.
NETWORKED: Final = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "afpfs", "webdav", "davfs", "ncpfs", "coda"),
    *("ceph", "glusterfs", "lustre", "beegfs", "gpfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.glusterfs"),
    *("fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "fuse.davfs", "fuse.ceph", "fuse.cephfs", "fuse.mfs", "fuse.juicefs"),
)
_MOUNTS: Final = Path("/proc/self/mountinfo")


def check_place(folder: Path, *, platform: str = sys.platform, mounts: str | None = None) -> None:
    """Refuses a folder whose queue manager could lose what it promises; `mounts` stands in for the system's table."""
    if platform in {"win32", "cygwin"}:
        raise ConfigurationException(
            "a queue manager runs on Linux and macOS, not on Windows: use WSL, with a folder of its own file system"
        )
    kind = _kind_of(folder.resolve(), platform, mounts)
    if kind.lower() in NETWORKED:
        raise ConfigurationException(
            f"{folder} is on a network file system ({kind}), which keeps neither locks nor syncs as the store needs"
            " them: name a folder on a disk of this machine"
        )


def _kind_of(folder: Path, platform: str, mounts: str | None) -> str:
    """Returns the type of the file system that a folder is on, or an empty text where the system does not say."""
    found: list[tuple[str, str]] = []
    if platform == "darwin":
        text = mounts or subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout
        for line in text.splitlines():  # what on where (type, options)
            _, _, rest = line.partition(" on ")
            point, _, options = rest.rpartition(" (")
            found.append((point, options.partition(",")[0].rstrip(")")))
    else:
        text = mounts or (_MOUNTS.read_text("utf-8", "surrogateescape") if _MOUNTS.exists() else "")
        for line in text.splitlines():  # id parent device root point options… - type source options
            fields, _, rest = line.partition(" - ")
            point = fields.split(" ")[4].encode().decode("unicode_escape")
            found.append((point, rest.partition(" ")[0]))
    above = [(point, kind) for point, kind in found if folder.is_relative_to(point)]
    last = dict(above)  # what is mounted last on a point hides the others
    return last[max(last, key=len)] if last else ""
