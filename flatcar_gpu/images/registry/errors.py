"""Why a registry does not say that an image exists. The three cases are told apart everywhere."""

from __future__ import annotations

from flatcar_gpu.errors import Unavailable


class Missing(Unavailable):
    """The registry says that there is no such image."""


class Denied(Unavailable):
    """The registry does not let these credentials, or nobody without any, see the image."""


class Unknown(Unavailable):
    """Nobody can tell: the registry did not answer, or not as a registry does."""


class Unreachable(Unknown):
    """No registry answers there, so that asking for another image would only cost the same wait."""
