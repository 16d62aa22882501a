"""Makes the root file system of a container image out of its archive: unpack_image.py ARCHIVE ROOT CONFIG

ARCHIVE is what `docker save` or `skopeo copy ... oci-archive:` writes. ROOT is a folder that is made. CONFIG becomes a file with
what the image says of its program, as JSON. Runs as root inside the sandbox of whoever owns the archive. Layers are unpacked
by a process whose root is ROOT, so that no path in them leads out of it.
Source: github.com/opencontainers/image-spec, "layer.md" and "image-layout.md"
"""
# All that unpacking needs is here before the root changes.
import encodings.ascii, encodings.latin_1, encodings.utf_8  # noqa: E401, F401
import bz2, gzip, lzma, zlib  # noqa: E401, F401
import hashlib
import json
import os
import platform
import shutil
import stat
import sys
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
DOCUMENT_BYTES = 4 * 1024 * 1024
LAYERS = 200
ENTRIES = 500_000
REMOVED, EMPTIED = ".wh.", ".wh..wh..opq"


class Refusal(Exception):
    pass


class Archive:
    def __init__(self, path):
        try:
            self.tar = tarfile.open(path, "r:*")
            self.members = {}
            for member in self.tar:
                if len(self.members) >= ENTRIES:
                    raise Refusal(f"the archive has more than {ENTRIES} entries")
                self.members[os.path.normpath(member.name)] = member
        except tarfile.TarError as error:
            raise Refusal(f"the archive is no tar: {error}") from None

    def open(self, name):
        member = self.members.get(os.path.normpath(name))
        # Docker writes layers that are the same once, and links the others to it.
        for _ in range(5):
            if not member or not (member.issym() or member.islnk()):
                break
            target = member.linkname if member.islnk() else os.path.join(os.path.dirname(member.name), member.linkname)
            member = self.members.get(os.path.normpath(target))
        if not member or not member.isfile():
            raise Refusal(f"the archive has no {name[:200]}")
        return self.tar.extractfile(member)

    def document(self, name):
        with self.open(name) as file:
            text = file.read(DOCUMENT_BYTES + 1)
        if len(text) > DOCUMENT_BYTES:
            raise Refusal(f"{name[:200]} is too long")
        try:
            return json.loads(text)
        except ValueError:
            raise Refusal(f"{name[:200]} is no JSON") from None


def blob(descriptor):
    algorithm, _, digest = str(descriptor.get("digest", "")).partition(":")
    if algorithm != "sha256" or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise Refusal("a digest is none of SHA-256")
    return f"blobs/sha256/{digest}", digest


def check(archive, descriptor):
    """The name of a blob whose content is what its digest says."""
    name, digest = blob(descriptor)
    sum_ = hashlib.sha256()
    with archive.open(name) as file:
        while piece := file.read(1024 * 1024):
            sum_.update(piece)
    if sum_.hexdigest() != digest:
        raise Refusal(f"{name} is not what its digest says")
    return name


def choose(manifests):
    """Of an index, the image for this kind of processor."""
    wanted = ARCHITECTURES.get(platform.machine(), platform.machine())
    for each in manifests:
        about = each.get("platform")
        if not about or (about.get("os"), about.get("architecture")) == ("linux", wanted):
            return each
    raise Refusal(f"the archive has no image for linux/{wanted}")


def image_of(archive):
    """The configuration, and the names of the layers, the lowest first."""
    if "index.json" in archive.members:
        chosen = choose(archive.document("index.json").get("manifests", []))
        for _ in range(3):
            manifest = archive.document(check(archive, chosen))
            if "manifests" not in manifest:
                break
            chosen = choose(manifest["manifests"])
        if "config" not in manifest:
            raise Refusal("the archive has no image")
        layers = [check(archive, layer) for layer in manifest.get("layers", [])[: LAYERS + 1]]
        return archive.document(check(archive, manifest["config"])), layers
    if "manifest.json" in archive.members:
        first = archive.document("manifest.json")[0]
        return archive.document(first["Config"]), first["Layers"]
    raise Refusal("the archive is of no image: neither index.json nor manifest.json is in it")


def remove(path):
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass


def unpack(layer):
    """Over what is there, whose root is this process's own."""
    try:
        tar = tarfile.open(fileobj=layer, mode="r:*")
    except tarfile.ReadError:
        raise Refusal("a layer is neither tar nor tar.gz; layers by zstd are not understood") from None
    folders = []
    for count, member in enumerate(tar):
        if count >= ENTRIES:
            raise Refusal(f"a layer has more than {ENTRIES} entries")
        path = os.path.normpath("/" + member.name)
        folder, name = os.path.split(path)
        if name == EMPTIED:
            for each in os.listdir(folder) if os.path.isdir(folder) else []:
                remove(os.path.join(folder, each))
        elif name.startswith(REMOVED):
            if name[len(REMOVED) :] in ("", ".", ".."):
                raise Refusal(f"a layer takes away {name}")
            remove(os.path.join(folder, name[len(REMOVED) :]))
        elif member.isdev() and not member.isfifo():
            continue
        else:
            os.makedirs(folder, exist_ok=True)
            there = os.path.isdir(path) and not os.path.islink(path)
            if path != "/" and not (there and member.isdir()):
                remove(path)
            if member.islnk():
                member.linkname = os.path.normpath("/" + member.linkname).lstrip("/")
            member.name = path.lstrip("/") or "."
            if member.isdir():
                folders.append(member)
            tar.extract(member, "/", set_attrs=True, numeric_owner=True)
    # A folder that cannot be written to gets its rights when all is in it; they are kept as they are for root.
    for member in folders:
        if os.path.isdir("/" + member.name):
            os.chmod("/" + member.name, member.mode)


def in_root(root, work):
    """Does the work in a process of its own, for which the folder is the root."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.chroot(root)
            os.chdir("/")
            work()
            status = 0
        except BaseException as error:
            os.write(write, f"{error}"[:2000].encode())
        finally:
            os._exit(status)
    os.close(write)
    said = b""
    while piece := os.read(read, 4096):
        said += piece
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if status:
        raise Refusal(said.decode(errors="replace") or "unpacking a layer failed")


def put(path, text):
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def complete():
    """What programs expect in any system, where the image does not have it."""
    for folder in ("proc", "sys", "dev", "run", "etc"):
        os.makedirs(f"/{folder}", exist_ok=True)
    os.makedirs("/tmp", exist_ok=True)
    os.chmod("/tmp", 0o1777)
    put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    put("/etc/group", "root:x:0:\n")
    # Names of the sandbox, which its agent keeps in /run.
    for name in ("hostname", "hosts"):
        remove(f"/etc/{name}")
        os.symlink(f"/run/{name}", f"/etc/{name}")
    remove("/etc/resolv.conf")


def texts(value):
    return [str(each) for each in value] if isinstance(value, list) else []


def main(path, root, config_path):
    archive = Archive(path)
    image, layers = image_of(archive)
    if len(layers) > LAYERS:
        raise Refusal(f"the image has more than {LAYERS} layers")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    for number, name in enumerate(layers, 1):
        print(f"layer {number} of {len(layers)}", flush=True)
        with archive.open(name) as layer:
            in_root(root, lambda layer=layer: unpack(layer))
    in_root(root, complete)
    config = image.get("config") or {}
    said = {
        "env": texts(config.get("Env")),
        "entrypoint": texts(config.get("Entrypoint")),
        "command": texts(config.get("Cmd")),
        "workdir": str(config.get("WorkingDir") or ""),
        "user": str(config.get("User") or ""),
    }
    with open(config_path, "w", encoding="utf-8") as file:
        json.dump(said, file)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except Refusal as refusal:
        sys.exit(f"{refusal}")
    except OSError as error:
        sys.exit(f"{error.strerror or error}: {error.filename or ''}")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        sys.exit(f"the archive is not as an image should be: {error}")
