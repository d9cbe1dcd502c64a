"""Verbs that read recordings, URDFs and plans."""

from __future__ import annotations

from collections.abc import Mapping

VERBS: Mapping[str, tuple[str, str]] = {
    "view": ("view:VIEW", "show recordings in a browser: robot, cameras, plots"),
    "evaluate": ("evaluate:EVALUATE", "measure errors and latencies; write a report"),
    "repeat": ("repeat:REPEAT", "have a robot repeat a human's motion; compare both"),
    "dataset": ("dataset:DATASET", "make or check a data set of episodes, to train on"),
    "dataset-edit": (
        "dataset_edit:EDIT",
        "edit a data set of anybody: delete, trim, merge, split",
    ),
    "dataset-score": (
        "dataset_score:SCORE",
        "score and rank episodes, find faults of a data set or of recordings",
    ),
    "dataset-inspect": (
        "dataset_convert:INSPECT",
        "list the contents of a file of others and draft a mapping to a data set",
    ),
    "dataset-convert": (
        "dataset_convert:CONVERT",
        "make a data set of bags, HDF5 or zarr files of others",
    ),
    "dataset-push": (
        "dataset_push:PUSH",
        "upload a LeRobot data set to the Hugging Face Hub",
    ),
    "batch": ("batch:BATCH", "do a plan of thousands of sessions; write one table"),
    "bench": ("bench:BENCH", "play fixed motions on robots; write scores and a page"),
    "study": ("study:STUDY", "lead people through a study: plan, run, export"),
    "latency": ("latency:LATENCY", "measure how late a rig follows its leader"),
    "calibrate-camera": (
        "calibrate_camera:CALIBRATE_CAMERA",
        "find a camera's place and lens by a board",
    ),
    "calibrate-tool": (
        "calibrate_touches:CALIBRATE_TOOL",
        "find a tool's centre by touches of one point",
    ),
    "calibrate-bases": (
        "calibrate_touches:CALIBRATE_BASES",
        "find one arm's base in another's by touched points",
    ),
    "so101": ("so101:SO101", "set up an SO-101 and record a data set, step by step"),
    "accept": ("accept:ACCEPT", "check a rig step by step; write a report to attach"),
    "new-leader": ("leaders:NEW_LEADER", "write the YAML of a leader of servos"),
    "meshes": ("meshes:MESHES", "get the maker's meshes for the pictures of a robot"),
    "new-robot": (
        "robots:NEW_ROBOT",
        "write the YAML of a robot from its URDF, or of several arms",
    ),
}
"""Verbs by name, as ``paprle.cli.app.VERBS``: the entry point ``paprle.verbs``."""
