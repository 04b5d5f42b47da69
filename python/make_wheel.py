"""Writes the wheel: make_wheel.py FOLDER LIBRARY COMMAND, run in the root of the repository.

It holds the package, libbanyan.so and the command `banyan`, and is installed without a compiler. It depends on no version
of Python or torch. LIBRARY and COMMAND are self-contained (third_party/shared_library.bzl), so that glibc 2.31 is all that
it asks of a system: that of Debian 11 and Ubuntu 20.04.
"""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile

# The package is imported as `banyan`. On the index of Python packages that name is another project's.
_NAME = "banyan-train"

_METADATA = """Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Trains one PyTorch model in several data centres, over the links you have
License-Expression: Apache-2.0
License-File: LICENSE
{notices}Keywords: distributed training,geo-distributed,DiLoCo,DDP,PyTorch,parameter server
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Topic :: System :: Distributed Computing
Classifier: Typing :: Typed
Requires-Python: >=3.9
Provides-Extra: torch
Requires-Dist: torch>=1.13; extra == "torch"
Description-Content-Type: text/markdown

{readme}"""

# What LIBRARY and COMMAND hold of others, by Debian's packages.
_INSIDE = (
    "coinor-libclp-dev", "coinor-libcoinutils-dev", "libabsl-dev", "libblas-dev", "libbz2-dev",
    "libjemalloc-dev", "liblapack-dev", "libmicrohttpd-dev", "libprotobuf-dev", "libsodium-dev", "libssl-dev",
    "libstdc++-12-dev", "libxxhash-dev", "libyaml-cpp-dev", "libzmq3-dev", "zlib1g-dev"
)

_WHEEL = """Wheel-Version: 1.0
Generator: banyan
Root-Is-Purelib: false
Tag: {tag}
"""


def digest(data):
    """Returns a hash as wheels write it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def notices():
    """Returns the licences of what is inside: (path in the wheel's facts, bytes)."""
    return [
        (f"licenses/{package}.txt", read(f"/usr/share/doc/{package}/copyright")) for package in _INSIDE
        if os.path.exists(f"/usr/share/doc/{package}/copyright")
    ]


def contents(version, tag, library, command):
    """Returns what the wheel holds: (path, bytes, mode)."""
    files = []
    for folder, _, names in sorted(os.walk("python/banyan")):
        for name in sorted(names):
            if name.endswith((".py", ".typed")):
                path = os.path.join(folder, name)
                files.append((os.path.relpath(path, "python"), read(path), 0o644))
    prefix = f"{_NAME.replace('-', '_')}-{version}"
    files.append(("banyan/libbanyan.so", read(library), 0o644))
    files.append((f"{prefix}.data/scripts/banyan", read(command), 0o755))
    facts = f"{prefix}.dist-info"
    inside = notices()
    metadata = _METADATA.format(
        name=_NAME,
        version=version,
        notices="".join(f"License-File: {path.removeprefix('licenses/')}\n" for path, _ in inside),
        readme=read("README.md").decode()
    )
    files.append((f"{facts}/METADATA", metadata.encode(), 0o644))
    files.append((f"{facts}/WHEEL", _WHEEL.format(tag=tag).encode(), 0o644))
    files.append((f"{facts}/licenses/LICENSE", read("LICENSE"), 0o644))
    files += [(f"{facts}/{path}", text, 0o644) for path, text in inside]
    record = "".join(f"{path},{digest(data)},{len(data)}\n" for path, data, _ in files)
    files.append((f"{facts}/RECORD", (record + f"{facts}/RECORD,,\n").encode(), 0o644))
    return files


def main(folder, library, command):
    said = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    version = said.split()[1]
    machine = os.uname().machine
    tag = f"py3-none-manylinux_2_31_{machine}" if machine == "x86_64" else f"py3-none-linux_{machine}"
    wheel = os.path.join(folder, f"{_NAME.replace('-', '_')}-{version}-{tag}.whl")
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
