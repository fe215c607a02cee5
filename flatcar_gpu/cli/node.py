"""What the commands that make a node or its values share: the options, and the way from them to what is checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from flatcar_gpu.assembly import assemble, check_node
from flatcar_gpu.cli.index_options import find_release, index_options
from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.plan import resolve
from flatcar_gpu.report import Report
from flatcar_gpu.rules import rules
from flatcar_gpu.settings import listed, settings
from flatcar_gpu.spec import Scope
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from flatcar_gpu.assembly import Node
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.user_configs import UserConfigs
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.settings import Setting
    from flatcar_gpu.spec_file import Loaded, SpecSource


@dataclass(frozen=True, slots=True)
class NodeArguments:
    """What was given on the command line or by environment variables: values by key of the spec."""

    file: str | None
    pool: str | None
    values: Mapping[str, Any]
    ignored: tuple[str, ...]
    access: Access


def _known_rules(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for name in value:
        if name not in rules():
            raise click.BadParameter(f"there is no rule {name!r}; `flatcar-gpu explain` lists them", ctx, parameter)
    return value


ignore_option = click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    callback=_known_rules,
    help="Go on although this rule is broken; the output names it.",
)


def node_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a node, and those below; it is passed them all as `node`."""
    return _spec_options(function, (Scope.NODE,))


def operator_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `node_options`, with the operator's options, too."""
    return _spec_options(function, (Scope.NODE, Scope.OPERATOR))


def all_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every setting."""
    return _spec_options(function, tuple(Scope))


def _spec_options(function: Callable[..., Any], scopes: tuple[Scope, ...]) -> Callable[..., Any]:
    shown = [setting for setting in settings().values() if setting.scope in scopes]

    @click.pass_context
    @wraps(function)
    def collected(
        ctx: click.Context,
        /,
        file: str | None,
        pool: str | None,
        ignore: tuple[str, ...],
        access: Access,
        **arguments: Any,
    ) -> Any:
        values = {}
        for setting in shown:
            value = arguments.pop(setting.option)
            if ctx.get_parameter_source(setting.option) is not ParameterSource.DEFAULT:
                values[setting.key] = listed(",".join(value)) if setting.kind is tuple else setting.kind(value)
        return function(node=NodeArguments(file, pool, values, ignore, access), **arguments)

    decorated: Callable[..., Any] = index_options(collected)
    for setting in reversed(shown):
        decorated = _option(setting)(decorated)
    decorated = ignore_option(decorated)
    decorated = click.option("--pool", metavar="NAME", help="Pool of the spec file; needed where it has several.")(
        decorated
    )
    return click.option(
        "-f", "--file", metavar="SPEC", help="Spec file (YAML) with the same settings; `-` is stdin. Flags win."
    )(decorated)


def checked_node(
    node: NodeArguments,
    console: Console,
    *,
    strict: bool,
    configs: UserConfigs | None = None,
    loaded: Loaded | None = None,
) -> Node:
    """The node that the arguments ask for, with the user's own `configs` merged over it.

    `loaded` is what the arguments load, where that is there already.
    Raises InvalidInput where the spec or a rule has errors, or, with `strict`, warnings.
    """
    plan, source = _resolved(node, console, loaded)
    made = assemble(plan, configs.documents if configs else ())
    conclude(
        check_node(made, source, node.ignored),
        source.sources | dict(configs.texts if configs else {}),
        console,
        strict=strict,
    )
    return made


def checked_plan(
    node: NodeArguments, console: Console, *, strict: bool, check: Callable[[Plan, Collection[str]], Report]
) -> Plan:
    """The plan that the arguments ask for, checked by `check`, which gets it and the rules to ignore.

    Raises InvalidInput where the spec or a rule has errors, or, with `strict`, warnings.
    """
    plan, source = _resolved(node, console)
    report = Report([source.locate(problem) for problem in check(plan, node.ignored)])
    conclude(report, source.sources, console, strict=strict)
    return plan


def _resolved(node: NodeArguments, console: Console, loaded: Loaded | None = None) -> tuple[Plan, SpecSource]:
    spec, source = (loaded or load_spec(node.file, node.values)).only_pool(node.pool)
    release = find_release(spec.flatcar, node.access, console).release if spec.flatcar else None
    return resolve(spec, release), source


def conclude(report: Report, sources: Mapping[str, str], console: Console, *, strict: bool) -> None:
    """Show a report, or raise it where it has errors or, with `strict`, warnings."""
    if report.has_errors or (strict and report.warning_count):
        raise InvalidInput(report, sources)
    console.report(report, sources)


def _option(setting: Setting) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    shown = setting.shown_default or (setting.default if isinstance(setting.default, str) else "")
    attributes: dict[str, Any] = {"help": f"{setting.help}  [default: {shown}]" if shown else setting.help}
    if setting.kind is tuple:
        attributes |= {"multiple": True, "metavar": _metavar(setting)}
    elif setting.choices:
        attributes["type"] = click.Choice(setting.choices)
    elif setting.kind is str:
        attributes["metavar"] = _metavar(setting)
    return click.option(setting.flag, setting.option, **attributes)


_METAVARS = {
    "CLASS": "NAME",
    "IMAGE": "NAME",
    "MODULES": "NAME",
    "SECRETS": "NAME",
    "SYSEXT": "NAME",
    "TOLERATIONS": "TAINT",
    "UPPER": "DIR",
    "WORK": "DIR",
}


def _metavar(setting: Setting) -> str:
    word = setting.attributes[-1].rpartition("_")[2].upper()
    return _METAVARS.get(word, word)
