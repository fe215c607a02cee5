"""The texts of Butane and Ignition: one name for each, so that rules, hints and tests speak of the same thing."""

from __future__ import annotations

# How a translation ends that does not succeed.
SOURCE_INVALID = "source config is invalid"
RESULT_INVALID = "config generated was invalid"
NO_VARIANT = "error parsing variant; must be specified"
BAD_VERSION = "error parsing version; must be a valid semver"
RHCOS_REMOVED = "rhcos variant has been removed; use openshift variant instead: https://coreos.github.io/butane/upgrading-openshift/"
# Ours: Butane would translate it.
FCOS_ONLY = "this part of the variant fcos is not translated: Flatcar has no such thing, or another rule for it"

# Butane, about the source.
NO_FILES_DIR = "local file paths are relative to a files directory that must be specified with -d/--files-dir"
LEAVES_FILES_DIR = "local file path traverses outside the files directory"
SEVERAL_SOURCES = "only one of the following can be set: inline, local, source"
SEVERAL_CONTENTS = "only one of the following can be set: contents, contents_local"
DECIMAL_MODE = "unreasonable mode would be reasonable if specified in octal; remember to add a leading zero"
MOUNT_NEEDS_FORMAT = "format is required if with_mount_unit is true"
MOUNT_NEEDS_PATH = "path is required if with_mount_unit is true and format is not swap"
TREE_NEEDS_LOCAL = "local is required"
TREE_NOT_DIRECTORY = "root of tree must be a directory"
TREE_FILE_TYPE = "trees may only contain files, directories, and symlinks"
NODE_EXISTS = "matching filesystem node has existing contents or different type"
INSTANCE_HAS_CONTENTS = "template instances cannot have contents or contents_local"
MERGED_CONFIG_INVALID = "config is not valid"
MERGED_CONFIG_VERSION = "skipping validation for the merge/replace ignition config due to an unkown version"
NO_CLEVIS = "clevis is not supported in this spec version"
NO_CEX = "cex is not currently supported on the target platform"

# Ours, of what neither of them looks at.
NOT_GZIP = "compression says gzip, but the contents are not gzip data: the first boot would fail"


def quadlet_extension(extensions: tuple[str, ...]) -> str:
    """For a quadlet whose name ends in none of `extensions`."""
    listed = ", ".join(extensions[:-1])
    return f"unsupported file extension for quadlet: must be one of {listed}, or {extensions[-1]}"


def unused_key(name: str) -> str:
    """For a key that no field has."""
    return f"unused key {name}"


def tree_mismatch(path: str) -> str:
    """For an object whose place in the document holds none, such as null or an alias."""
    return (
        f"context tree does not match content tree at {path}. Line and column reporting may be inconsistent. "
        "Unused keys may not be reported"
    )


# Ignition, about the result.
DUPLICATE = "duplicate entry defined"
BAD_IGNITION_VERSION = "invalid config version (couldn't parse)"
OTHER_IGNITION_VERSION = "unsupported config version"
CONFLICTS_WITH_UNIT = "path conflicts with systemd unit or dropin"
SOURCE_REQUIRED = "source is required"
BAD_PROXY = "proxies must be http(s)"
INSECURE_PROXY = "insecure plaintext HTTP proxy specified for HTTPS resources"
BAD_COMPRESSION = "invalid compression method"
HASH_WITHOUT_SOURCE = "source must be specified if verification is specified"
BAD_HEADER_SCHEME = "cannot use HTTP headers with this source scheme"
BAD_URL = "unable to parse url"
BAD_URL_SCHEME = "invalid url scheme"
BAD_S3_VERSION = "invalid S3 object VersionId"
BAD_S3_ARN = "invalid S3 ARN format"
BAD_HASH = "malformed hash specifier"
BAD_HASH_FUNCTION = "unrecognized hash function"
BAD_HASH_SIZE = "incorrect size for hash sum"
NO_HEADER_NAME = "HTTP header name can't be empty"
BAD_HEADER_VALUE = "unable to parse HTTP header"

NO_PATH = "path not specified"
RELATIVE_PATH = "path not absolute"
UNCLEAN_PATH = "path is not fully simplified"
BAD_MODE = "illegal file mode"
SPECIAL_MODE = "setuid/setgid/sticky bits are not supported or functional in spec versions older than 3.6.0"
OVERWRITE_WITHOUT_SOURCE = "overwrite must be false if source is unspecified"
ID_AND_NAME = "cannot set both id and name"
FILE_UNDER_LINK = "file path includes link in config"
DIRECTORY_UNDER_LINK = "directory path includes link in config"
LINK_UNDER_LINK = "link path includes link in config"
NO_LINK_TARGET = "link target is required"
HARD_LINK_TO_DIRECTORY = "hard link target is a directory"
HARD_LINK_OWNER = "user/group ignored for hard link"

NO_DEVICE = "disk device is required"
NUMBERS_COLLIDE = "partition numbers collide"
PARTITIONS_OVERLAP = "partitions overlap"
ZERO_WITH_NOT_EXIST = "shouldExist is false for a partition and other partition(s) has start or size 0"
LABELS_COLLIDE = "cannot use the same partition label twice"
NOT_EXIST_WITH_OTHERS = "shouldExist specified false with other options also specified"
NUMBER_OR_LABEL = "a partition number >= 1 or a label must be specified"
LONG_PARTITION_LABEL = "partition labels may not exceed 36 characters"
COLON_IN_LABEL = "partition label will be truncated to text before the colon"
BAD_GUID = 'doesn\'t match the form "01234567-89AB-CDEF-EDCB-A98765432101"'
NO_RAID_LEVEL = "raid level is required"
BAD_RAID_LEVEL = "unrecognized raid level"
RAID_SPARES = "spares unsupported for linear and raid0 arrays"
NO_RAID_DEVICES = "raid devices required"
NO_FORMAT = "format cannot be empty when path, label, uuid, wipeFilesystem, options, or mountOptions is specified"
BAD_FORMAT = "invalid filesystem format"
LABEL_WITHOUT_FORMAT = "filesystem must specify format if label is specified"
OVERWRITES_PARTITIONS = "filesystem overwrites partitioned device"
WIPED_WITH_DISK = "device matches disk with wipeTable enabled; filesystem will be wiped"
SLASH_IN_NAME = "device names cannot contain slashes"
LONG_LUKS_LABEL = "luks device labels cannot be longer than 47 characters"
BAD_KEY_FILE = "invalid key-file source"
CUSTOM_CLEVIS_WITH_OTHERS = "cannot use custom clevis config with tpm2, tang, or threshold"
NO_CLEVIS_PIN = "missing required custom clevis pin"
BAD_CLEVIS_PIN = "unsupported clevis pin"
NO_CLEVIS_CONFIG = "missing required custom clevis config"
NO_THUMBPRINT = "thumbprint is required"
BAD_ADVERTISEMENT = "advertisement is not valid JSON"
CEX_WITH_CLEVIS = "cannot use cex with clevis"
CEX_WITH_KEY_FILE = "cannot use key file with cex"

BAD_UNIT_EXTENSION = "invalid systemd unit extension"
BAD_DROPIN_EXTENSION = "invalid systemd drop-in extension"
BAD_UNIT = "invalid unit content: "


def long_label(format_: str, limit: int) -> str:
    """For a filesystem label longer than its format takes."""
    return f"filesystem labels cannot be longer than {limit} characters when using {format_}"


def no_install(unit: str) -> str:
    """For an enabled unit without an [Install] section; `unit` is its name in Go's quotes."""
    return f"unit {unit} is enabled, but has no install section so enable does nothing"


def no_template_install(template: str, unit: str) -> str:
    """For an enabled instance of a template unit without an [Install] section; both names in Go's quotes."""
    return f"template unit {template} for {unit} doesn't have Install section"
