"""Writes the wheel: make_wheel.py FOLDER LIBRARY COMMAND, run in the root of the repository.

It holds the package, libbanyan.so and the command `banyan`, and is installed without a compiler. It depends on no version
of Python or torch, but on the shared libraries of the Debian on which it was built, which the linux tag says.
"""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile

_METADATA = """Metadata-Version: 2.1
Name: banyan
Version: {version}
Summary: Training together between data centres that are far apart
License: Apache-2.0
Requires-Python: >=3.9
"""

_WHEEL = """Wheel-Version: 1.0
Generator: banyan
Root-Is-Purelib: false
Tag: {tag}
"""


def digest(data):
    """Returns a hash as wheels write it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def contents(version, tag, library, command):
    """Returns what the wheel holds: (path, bytes, mode)."""
    files = []
    for folder, _, names in sorted(os.walk("python/banyan")):
        for name in sorted(names):
            if name.endswith((".py", ".typed")):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    files.append((os.path.relpath(path, "python"), file.read(), 0o644))
    for path, source, mode in (
        ("banyan/libbanyan.so", library, 0o644), (f"banyan-{version}.data/scripts/banyan", command, 0o755)
    ):
        with open(source, "rb") as file:
            files.append((path, file.read(), mode))
    facts = f"banyan-{version}.dist-info"
    files.append((f"{facts}/METADATA", _METADATA.format(version=version).encode(), 0o644))
    files.append((f"{facts}/WHEEL", _WHEEL.format(tag=tag).encode(), 0o644))
    record = "".join(f"{path},{digest(data)},{len(data)}\n" for path, data, _ in files)
    files.append((f"{facts}/RECORD", (record + f"{facts}/RECORD,,\n").encode(), 0o644))
    return files


def main(folder, library, command):
    said = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    version = said.split()[1]
    tag = f"py3-none-linux_{os.uname().machine}"
    wheel = os.path.join(folder, f"banyan-{version}-{tag}.whl")
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in contents(version, tag, library, command):
            entry = zipfile.ZipInfo(path)  # without a time, so that the same contents are the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("make_wheel.py: expected FOLDER LIBRARY COMMAND")
    main(*sys.argv[1:])
