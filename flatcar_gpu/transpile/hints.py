"""What to do about a finding: Butane's messages stay as they are, the way out is added here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.modes import octal_reading
from flatcar_gpu.transpile.paths import node_at, shown
from flatcar_gpu.transpile.scalars import parse_integer
from flatcar_gpu.transpile.schema import VERSIONS, Schema, Struct, schema
from flatcar_gpu.transpile.syntax_tree import Mapping, Scalar

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.syntax_tree import AnyNode
    from flatcar_gpu.transpile.translation import Finding

# How many findings of a report get a hint: nobody reads more, and finding them takes its time.
HINTED = 100

# Sections of a Container Linux Config and what stands in their place.
# Source: flatcar/Flatcar #968, #852; flatcar docs, Butane migration.
CONTAINER_LINUX_SECTIONS = {
    "networkd": "a file below /etc/systemd/network in storage.files for each of its units",
    "etcd": "a drop-in of etcd-member.service in systemd.units",
    "flannel": "a drop-in of flanneld.service in systemd.units",
    "docker": "a drop-in of docker.service in systemd.units",
    "update": "the file /etc/flatcar/update.conf in storage.files (GROUP=, SERVER=)",
    "locksmith": "the file /etc/flatcar/update.conf in storage.files (REBOOT_STRATEGY=)",
}
_OTHER_VARIANTS = {
    "boot_device": "it is a key of the fcos variant; write storage.disks, storage.raid and storage.luks",
    "grub": "it is a key of the fcos variant; Flatcar has no sugar for it",
    "metadata": "it is a key of the openshift variant; leave it out",
}
_FIXED = {
    messages.NO_FILES_DIR: "give the folder with --files-dir DIR",
    messages.LEAVES_FILES_DIR: "copy the file below the files directory, or give a folder above both",
    messages.SEVERAL_SOURCES: "keep one of the three",
    messages.SEVERAL_CONTENTS: "keep one of the two",
    messages.SPECIAL_MODE: "leave these bits out, or set them in a unit with chmod",
    messages.TREE_FILE_TYPE: "remove sockets, pipes and devices from the folder",
    messages.NODE_EXISTS: "rename one of them, or leave the contents of the entry to the tree",
    messages.UNCLEAN_PATH: "write it without `//`, `.`, `..` and a slash at the end",
    messages.RELATIVE_PATH: "let it begin with a slash",
    messages.BAD_URL_SCHEME: "use http, https, tftp, gs, s3 or data (arn from 1.1.0 on)",
    messages.BAD_COMPRESSION: "write gzip, or leave it out: contents are compressed where it pays",
    messages.BAD_HASH: "write sha512-HEX or sha256-HEX",
    messages.BAD_HASH_FUNCTION: "write sha512-HEX or sha256-HEX",
    messages.MERGED_CONFIG_INVALID: "merge and replace take finished Ignition configs (JSON): transpile it first",
    messages.NO_CLEVIS: "flatcar has clevis from 1.2.0-experimental on",
    messages.OVERWRITE_WITHOUT_SOURCE: "give the file contents, or leave overwrite out",
    messages.ID_AND_NAME: "keep one of the two",
    messages.BAD_UNIT_EXTENSION: "end the name in .service, .socket, .timer, .mount, .target or another unit type",
    messages.BAD_DROPIN_EXTENSION: "end the name in .conf",
}
_NO_INSTALL = "add a section [Install] with WantedBy=multi-user.target, or leave enabled out"


def hint(finding: Finding, root: AnyNode | None, version: Schema) -> str:
    """What to do about a finding of the document `root`; empty where nothing better than its message is known."""
    message, path = finding.message, finding.path
    if message in (messages.DECIMAL_MODE, messages.SPECIAL_MODE) and (octal := _octal(path, root)):
        return octal
    if message in _FIXED:
        return _FIXED[message]
    if finding.key is not None:
        return _unknown_key(path, version)
    if message == messages.DUPLICATE and finding.related:
        return _first_place(finding.related, root)
    if message.endswith(("has no install section so enable does nothing", "doesn't have Install section")):
        return _NO_INSTALL
    if message.endswith("no such file or directory"):
        return "local paths are relative to the files directory"
    return ""


def _octal(path: Path, root: AnyNode | None) -> str:
    node = node_at(root, path)
    mode = parse_integer(node.value) if isinstance(node, Scalar) else None
    meant = octal_reading(mode, directory=path[1] == "directories") if mode is not None else None
    return f"write 0{mode}; {mode} without the zero is decimal for 0{mode:o}" if meant is not None else ""


def _first_place(path: Path, root: AnyNode | None) -> str:
    node = node_at(root, path)
    where = f", line {node.line} column {node.column}" if node is not None and node.line else ""
    same = "; contents that are equal count as the same source" if path[:2] == ("ignition", "config") else ""
    return f"the first one is {shown(path)}{where}{same}"


def _unknown_key(path: Path, version: Schema) -> str:
    name = str(path[-1])
    struct = struct_at(path[:-1], version)
    if name == "<<":
        return "merge keys work; Butane warns of them all the same"
    later = next((other for other in VERSIONS if _knows(other, path) and other != version.version.name), None)
    if later:
        return f"flatcar has it from version {later} on"
    if len(path) == 1 and name in CONTAINER_LINUX_SECTIONS:
        return f"it is a key of Container Linux Configs; in Butane write {CONTAINER_LINUX_SECTIONS[name]}"
    if len(path) == 1 and name in _OTHER_VARIANTS:
        return _OTHER_VARIANTS[name]
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1], name).lower().replace("-", "_")
    close = closest(snake, struct.fields) if struct else ""
    if close:
        return f"did you mean {close}?"
    if len(path) == 1:
        section = next((key for key, item, _ in version.config.butane_nested if name in item.fields), None)
        if section:
            return f"it belongs into {section}"
    return f"known here: {', '.join(struct.fields)}" if struct else ""


def closest(name: str, names: object) -> str:
    """The one of `names` that `name` is most likely a misspelling of; empty if it is like none."""
    # Imported late: most configs have no unknown keys.
    from difflib import get_close_matches

    known = [str(other) for other in names] if isinstance(names, dict | list | tuple) else []
    return next(iter(get_close_matches(name, known, n=1, cutoff=0.7)), "")


def struct_at(path: Path, tables: Schema, *, ignition: bool = False) -> Struct | None:
    """The type of the object at a path of Butane's keys, or of Ignition's; None where there is none."""
    struct: Struct | None = tables.config
    for part in path:
        if isinstance(part, int) or struct is None:
            continue
        field = (struct.ignition if ignition else struct.fields).get(part)
        struct = (field.type.item or field.type).struct if field else None
    return struct


def _knows(name: str, path: Path) -> bool:
    struct = struct_at(path[:-1], schema(name))
    return struct is not None and path[-1] in struct.fields


def translator_hint(root: AnyNode | None, variant: str) -> str:
    """For a config whose variant or version is not to be had: what it may be, and what there is."""
    known = ", ".join(VERSIONS)
    keys = [key.value for key in root.content[::2] if isinstance(key, Scalar)] if isinstance(root, Mapping) else []
    old = [name for name in keys if name in CONTAINER_LINUX_SECTIONS]
    if not variant and (old or ("ignition" not in keys and {"storage", "systemd", "passwd"} & set(keys))):
        replaced = "".join(f"; instead of {name} write {CONTAINER_LINUX_SECTIONS[name]}" for name in old)
        return f"this looks like a Container Linux Config: begin with `variant: flatcar` and `version: 1.0.0`{replaced}"
    if not variant and "ignition" in keys:
        return "an Ignition config needs no transpiling; a Butane config begins with `variant: flatcar`"
    if not variant:
        return f"begin with `variant: flatcar` and `version: 1.0.0`; known versions: {known}"
    if variant != "flatcar":
        return f"only the variant flatcar is known here, in the versions {known}"
    return f"known versions of flatcar: {known}"


_TYPE_HINTS = (
    (re.compile(r"!!str `([-+]?[0-9][0-9a-fxo_]*)` into int"), "write the number without quotes"),
    (re.compile(r"!!str `(true|false)` into bool"), "write true or false without quotes"),
    (re.compile(r"into bool"), "write true or false"),
    (re.compile(r"into int$"), "write a whole number"),
    (re.compile(r"!!(map|str) .*into \[\]"), "write a list: each item behind a dash"),
    (re.compile(r"!!map into \[\]"), "write a list: put a dash before each item"),
    (re.compile(r"!!seq into v"), "write an object: `key: value` lines, without a dash"),
    (re.compile(r"!!map into string"), "quote it: a value with `: ` or in braces is an object in YAML"),
    (re.compile(r"!!seq into string"), "quote it: a value in brackets is a list in YAML"),
    (re.compile(r"!!str `.*` into v"), "write an object: `key: value` lines; a space belongs behind the colon"),
)
_YAML_HINTS = {
    "found character that cannot start any token": (
        "indent with spaces, not tabs, and quote a value that begins with `%`, `@` or a backquote"
    ),
    "mapping values are not allowed in this context": "quote a value that has a colon and a space in it",
    "did not find expected key": "compare the indentation with the lines around it",
    "found unknown escape character": "write the backslash twice, or use single quotes",
    "found unexpected end of stream": "a quote that was opened is not closed",
    "control characters are not allowed": "is this a text file? write control characters as \\x.. in double quotes",
    "invalid leading UTF-8 octet": "save the file as UTF-8",
    "found incompatible YAML document": "leave the %YAML line out",
    "referenced": "define the anchor with & above, or quote a value that begins with `*`",
    "map merge requires map or sequence of maps as the value": "give << an alias of an object",
    "excessive aliasing": "the aliases make the document grow without end; write it out",
}


def type_hint(text: str) -> str:
    """For a value of the wrong type."""
    return next((hint for pattern, hint in _TYPE_HINTS if pattern.search(text)), "")


def yaml_hint(text: str) -> str:
    """For a text that is not YAML."""
    return next((hint for part, hint in _YAML_HINTS.items() if part in text), "")
