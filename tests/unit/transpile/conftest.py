"""Hypothesis without time limits an example: the machine may have other work to do."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
