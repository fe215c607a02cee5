"""Rules of what is fetched: sources, headers, hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import size
from flatcar_gpu.transpile.urls import BadUrl, Url, check_data_url, parse, query_value

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Spec, Tree
    from flatcar_gpu.transpile.paths import Path

# Hexadecimal digits of each hash.
_HASHES = {"sha512": 128, "sha256": 64}
_ARN_SINCE = 4


def url_problem(source: str, spec: Spec) -> str:
    """What is wrong with the URL of a resource; empty if nothing is."""
    try:
        url = parse(source)
        if url.scheme == "data":
            check_data_url(source)
            return ""
    except BadUrl as error:
        return str(error)
    if url.scheme in ("http", "https", "tftp", "gs"):
        return ""
    if url.scheme == "arn" and spec.minor >= _ARN_SINCE:
        return messages.BAD_S3_ARN if not _is_s3_arn(url) else _version_problem(url)
    return _version_problem(url) if url.scheme == "s3" else messages.BAD_URL_SCHEME


def _version_problem(url: Url) -> str:
    return messages.BAD_S3_VERSION if query_value(url.query, "versionId") == "" else ""


def _is_s3_arn(url: Url) -> bool:
    # arn:partition:service:region:account:resource
    parts = ("arn:" + url.opaque).split(":", 5)
    if len(parts) < 6 or parts[2] != "s3":
        return False
    slashes = url.opaque.count("/")
    return slashes >= (2 if parts[5].startswith("accesspoint/") else 1)


def _resource(tree: Tree, path: Path, check: Check) -> None:
    source = tree.get("source")
    if tree.get("compression", "") not in ("", "gzip"):
        check.error((*path, "compression"), messages.BAD_COMPRESSION)
    if not source and "hash" in tree.get("verification", {}):
        check.error((*path, "verification", "hash"), messages.HASH_WITHOUT_SOURCE)
    if source and (problem := url_problem(source, check.spec)):
        check.error((*path, "source"), problem)
    if tree.get("httpHeaders") and (problem := _header_problem(source or "")):
        check.error((*path, "httpHeaders"), problem)


def _header_problem(source: str) -> str:
    if not source:
        return messages.BAD_URL
    try:
        scheme = parse(source).scheme
    except BadUrl as error:
        return str(error)
    return "" if scheme in ("http", "https") else messages.BAD_HEADER_SCHEME


def _header(tree: Tree, path: Path, check: Check) -> None:
    if not tree.get("name"):
        check.error((*path, "name"), messages.NO_HEADER_NAME)
    if tree.get("value") == "":
        check.error((*path, "value"), messages.BAD_HEADER_VALUE)


def _verification(tree: Tree, path: Path, check: Check) -> None:
    if "hash" not in tree:
        return
    function, dash, digest = tree["hash"].partition("-")
    if not dash:
        problem = messages.BAD_HASH
    elif function not in _HASHES:
        problem = messages.BAD_HASH_FUNCTION
    else:
        problem = messages.BAD_HASH_SIZE if size(digest) != _HASHES[function] else ""
    if problem:
        check.error((*path, "hash"), problem)


RULES: dict[str, Rule] = {"Resource": _resource, "HTTPHeader": _header, "Verification": _verification}
