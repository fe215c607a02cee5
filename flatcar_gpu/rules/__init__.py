"""Compatibility rules: what cannot work, why, and the way out. Each is declared once, in a module of its subject."""

from __future__ import annotations

from flatcar_gpu.rules.registry import Finding, Rule, Subject, check, check_config, config_rule, rule, rules

__all__ = ["Finding", "Rule", "Subject", "check", "check_config", "config_rule", "rule", "rules"]
