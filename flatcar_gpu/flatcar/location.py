"""The place that --index-url names: a server, or a folder or file of this machine, and the files to look for in it."""

from __future__ import annotations

from pathlib import Path

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.index import family


def is_remote(index_url: str) -> bool:
    """Whether reading the index means asking a server."""
    return index_url.lower().startswith(("http://", "https://"))


def local_path(index_url: str) -> Path:
    """The folder or file that `index_url` is. Raises Failure where there is none, or its scheme is not supported."""
    scheme, separator, _ = index_url.partition("://")
    if separator and scheme.lower() != "file":
        raise Failure(f"an index cannot be read from {scheme}://", hint="give an http, https or file URL, or a path")
    if separator:
        # Only here: these modules cost more time to load than the rest of a run from a warm cache.
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        index_url = url2pathname(urlsplit(index_url).path)
    path = Path(index_url)
    if not index_url or not path.exists():
        raise Failure(f"there is no release index at {index_url}", hint="--index-url takes a URL, a folder or a file")
    return path


def file_names(channel: str) -> list[str]:
    """Names under which a channel's releases are published, the best first.

    The file of all LTS years comes before the one of the year: it alone has 2605.15.1, and it shows how recent the
    data are for a year that gets no releases any more.
    """
    own = [f"releases-{family(channel)}.json", f"releases-{channel}.json", "releases.json"]
    return list(dict.fromkeys(own))


def published_for(name: str) -> str | None:
    """The channel that a file of that name is for; None where it is of all channels."""
    channel = name.removeprefix("releases-").removesuffix(".json")
    return None if channel == name.removesuffix(".json") else channel


def urls(index_url: str, channel: str) -> dict[str, str | None]:
    """URLs to ask for a channel in order, each with the channel that its file is for (None: several)."""
    place, mark, query = index_url.partition("?")
    if place.lower().endswith(".json"):
        return {index_url: None}
    return {f"{place.rstrip('/')}/{name}{mark}{query}": published_for(name) for name in file_names(channel)}


def shown(url: str) -> str:
    """`url` without what may be secret in it: user, password and query."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    host, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
