"""YAML settings of a policy."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import SightSettings
from paprle.contracts.types import Reposture


@settings(slots=False)
class PolicyConfig(SightSettings):
    """A policy and its queries."""

    function: Annotated[
        str, doc("The policy, module:name: a function, or a class without arguments.")
    ] = ""
    path: Annotated[str, Unit("path"), doc("The policy as an ONNX file.")] = ""
    remote: Annotated[
        str,
        Unit("path"),
        doc("The policy is another program, which listens on this Unix socket."),
    ] = ""
    action: Annotated[
        Literal["joints", "ee_pose"],
        doc("What it answers: the data set's action, or requested.ee_pose + grippers."),
    ] = "joints"
    execute: Annotated[
        int | None,
        Ge(1),
        doc("Actions of a chunk until it is asked again; half of them when absent."),
    ] = None
    max_age: Annotated[
        float,
        Gt(0),
        Le(2),
        Unit("s"),
        doc("An answer to what was seen longer ago is refused."),
    ] = 0.2
    duration: Annotated[
        float, Gt(0), Le(86400), Unit("s"), doc("Longest time of an episode.")
    ] = 60.0
    episodes: Annotated[
        int | None, Ge(0), doc("Episodes until it is done; 0: endless; absent: one.")
    ] = None
    reposture: Annotated[
        Reposture,
        doc(
            "Where a limb is stuck and another posture reaches its target: ask the "
            "operator, or change over slowly without being asked."
        ),
    ] = "ask"
    task: Annotated[str, doc("What it is told to do.")] = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.function, self.path, self.remote))) != 1:
            raise ValueError(
                "one of function=module:name, path=FILE.onnx and remote=SOCKET"
            )
        if self.remote and self.action != "joints":
            raise ValueError("action=joints with remote, which sends no poses")
