"""The texts of Butane and Ignition: one name for each, so that rules, hints and tests speak of the same thing."""

from __future__ import annotations

# How a translation ends that does not succeed.
SOURCE_INVALID = "source config is invalid"
RESULT_INVALID = "config generated was invalid"
NO_VARIANT = "error parsing variant; must be specified"
BAD_VERSION = "error parsing version; must be a valid semver"
RHCOS_REMOVED = "rhcos variant has been removed; use openshift variant instead: https://coreos.github.io/butane/upgrading-openshift/"

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
