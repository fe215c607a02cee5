"""Contents that a config names by source, inline or local, as Ignition takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.data_url import GZIP_MAGIC, data_url
from flatcar_gpu.transpile.go_text import SURROGATES
from flatcar_gpu.transpile.local_files import LocalFileError

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.translation import Translation, Tree


def embed(resource: Tree, translation: Translation, path: Path) -> Tree:
    """`compression` and `source` of a Butane resource, with what is inline or local as a data URL."""
    for key in ("local", "inline"):
        if key not in resource:
            continue
        if key == "inline":
            contents = resource[key].encode(errors=SURROGATES)
        else:
            try:
                contents = translation.files.read(resource[key])
            except LocalFileError as error:
                translation.findings.error((*path, key), str(error))
                return {}
        if resource.get("compression") == "gzip" and not contents.startswith(GZIP_MAGIC):
            translation.findings.note((*path, "compression"), messages.NOT_GZIP)
        whole = translation.origins.whole
        whole[*path, "source"] = (*path, key)
        if not resource.get("compression"):
            whole[*path, "compression"] = (*path, key)
        return embedded(contents, resource.get("compression", ""))
    return {key: resource[key] for key in ("compression", "source") if key in resource}


def embedded(contents: bytes, compression: str = "") -> Tree:
    """`compression` and `source` of an Ignition resource that holds `contents`.

    With a `compression` the contents are taken as compressed already; without, gzip is used where it pays.
    """
    url, gzipped = data_url(contents, compress=not compression)
    return {"compression": compression or ("gzip" if gzipped else ""), "source": url}
