"""Mistakes in a puppeteer's YAML."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.leaders.puppeteer.config import PuppeteerConfig, PuppetSettings
from paprle.leaders.puppeteer.servo_models import is_feetech, model_names

_LEAST_RANGE = 0.1  # [rad] chosen: a gripper that moves less than this is miscalibrated


def find_mistakes(config: PuppeteerConfig) -> list[str]:
    """Return all mistakes in the config."""
    if not config.limbs:
        return [
            "leader.limbs: expected at least one arm, got none; copy a "
            "configs/leader/puppeteer_<robot>.yaml"
        ]
    mistakes = [
        text for name, limb in config.limbs.items() for text in _judge_limb(name, limb)
    ]
    return [*mistakes, *_judge_makers(config), *_judge_ids(config)]


def _judge_limb(name: str, limb: PuppetSettings) -> Iterator[str]:
    where = f"leader.limbs.{name}"
    if not limb.servos:
        yield f"{where}.servos: expected at least one joint, got none"
    if limb.reset_q and len(limb.reset_q) != len(limb.servos):
        yield (
            f"{where}.reset_q: expected {len(limb.servos)} values, one per joint, got "
            f"{len(limb.reset_q)}"
        )
    models = {f"servos.{joint}": servo.model for joint, servo in limb.servos.items()}
    gripper = limb.gripper
    if gripper is not None:
        models["gripper"] = gripper.model
        if gripper.joint in limb.servos:
            yield (
                f"{where}.gripper.joint: expected a joint of its own, got "
                f"'{gripper.joint}', which stands under servos as well"
            )
        if abs(gripper.open - gripper.closed) < _LEAST_RANGE:
            yield (
                f"{where}.gripper: expected closed and open at least {_LEAST_RANGE} "
                f"[rad] apart, got {gripper.closed} and {gripper.open}; run paprle "
                "calibrate"
            )
    for key, model in models.items():
        if model not in model_names():
            known = ", ".join(model_names())
            yield f"{where}.{key}.model: unknown model '{model}'; models: {known}"


def _judge_makers(config: PuppeteerConfig) -> Iterator[str]:
    makers: dict[str, set[bool]] = {}
    for limb in config.limbs.values():
        models = [servo.model for servo in limb.servos.values()]
        models += [limb.gripper.model] if limb.gripper is not None else []
        makers.setdefault(limb.port, set()).update(map(is_feetech, models))
    for port, found in makers.items():
        if len(found) > 1:
            yield (
                f"leader.limbs: expected servos of one maker on '{port}', got "
                "Dynamixel's and Feetech's; give each maker its own port"
            )


def _judge_ids(config: PuppeteerConfig) -> Iterator[str]:
    users: dict[tuple[str, int], list[str]] = {}
    for name, limb in config.limbs.items():
        rows = [
            (f"{name}/{joint}", servo_id)
            for joint, servo in limb.servos.items()
            for servo_id in (servo.id, servo.twin)
            if servo_id is not None
        ]
        if limb.gripper is not None:
            rows.append((f"{name}/{limb.gripper.joint}", limb.gripper.id))
        for joint, servo_id in rows:
            users.setdefault((limb.port, servo_id), []).append(joint)
    for (port, servo_id), joints in users.items():
        if len(joints) > 1:
            yield (
                f"leader.limbs: expected one joint a servo, got id {servo_id} on "
                f"'{port}' for {', '.join(joints)}; give each its own id, or the arms "
                "their own ports"
            )
