"""An edited data set, LeRobot version 2.1: files for each episode.

Layout: ``huggingface/lerobot`` 0.3, ``datasets/utils.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from paprle.contracts.kit.work import Work
from paprle.recording.video.codec import load_av
from paprle.recording.video.video_file import VideoFile
from paprle_lab.dataset.episode_shard import LONGEST
from paprle_lab.dataset.formats.lerobot import CHUNK, Totals, write_json
from paprle_lab.dataset.formats.marks import FEATURES
from paprle_lab.dataset.video import VideoWriter
from paprle_lab.editing.clip_stats import find_stats
from paprle_lab.editing.clips import Clip
from paprle_lab.editing.edits import Edits
from paprle_lab.editing.footage import FootageWriter, Span
from paprle_lab.editing.rows import RowReader, edit_rows
from paprle_lab.editing.set_writer import find_span

VERSION = "v2.1"
_DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
_VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
_STATS = ("min", "max", "mean", "std", "count")
_PART = 0.25  # [frames] chosen: as in ``footage``


def write_older_set(
    root: Path, clips: Sequence[Clip], edits: Edits, work: Work
) -> Totals:
    """Write clips as a data set of version 2.1 into an empty folder.

    Videos are copied, but for clips that begin or end within a group of pictures: these
    are encoded again, since a file of this version has the frames of its episode alone.

    Returns:
        Its totals.

    Raises:
        RecordingError: If a source is unreadable or damaged.
    """
    totals, reader = Totals(), RowReader()
    lines = {
        "episodes": list[str](),
        "episodes_stats": list[str](),
        "tasks": list[str](),
    }
    work.note("writing episodes")
    for k, clip in enumerate(clips):
        table, tasks = edit_rows(reader.read(clip), clip, totals)
        stats = find_stats(clip, table, is_new=edits.has_new_stats)
        kept = [name for name in table.column_names if name not in FEATURES]
        path = _place(root, _DATA, k)
        pq.write_table(table.select(kept).replace_schema_metadata(None), path)
        for name in _list_videos(clip):
            _write_video(clip, name, _place(root, _VIDEO, k, name))
        own = {name: {key: one[key] for key in _STATS} for name, one in stats.items()}
        episode = {"episode_index": k, "tasks": tasks, "length": len(table)}
        lines["episodes"].append(json.dumps(episode))
        lines["episodes_stats"].append(json.dumps({"episode_index": k, "stats": own}))
        totals.n_episodes += 1
        totals.n_frames += len(table)
        work.count(k + 1, len(clips), "episodes")
    lines["tasks"] = [
        json.dumps({"task_index": number, "task": text})
        for number, text in enumerate(totals.tasks)
    ]
    for name, told in lines.items():
        text = "".join(f"{line}\n" for line in told)
        (root / "meta").mkdir(exist_ok=True)
        (root / "meta" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    write_json(root / "meta" / "info.json", _make_info(clips[0], totals))
    return totals


def _place(root: Path, form: str, k: int, name: str = "") -> Path:
    place = form.format(episode_chunk=k // CHUNK, episode_index=k, video_key=name)
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    return root / place


def _list_videos(clip: Clip) -> list[str]:
    names = clip.source.names
    return [names[old] for old in clip.source.list_videos()]


def _write_video(clip: Clip, name: str, path: Path) -> None:
    span, fps = find_span(clip, name), clip.source.fps
    writer = FootageWriter(lambda: ((0, 0), path), fps, float("inf"), LONGEST)
    try:
        (place,) = writer.add([span])
    finally:
        writer.close()
    if place.begin > _PART / fps or _count_frames(path) != clip.n_frames:
        _encode(span, clip.n_frames, fps, path)


def _count_frames(path: Path) -> int:
    with load_av().open(str(path)) as file:
        return sum(1 for packet in file.demux(video=0) if packet.size)


def _encode(span: Span, n: int, fps: float, path: Path) -> None:
    video = VideoFile(span.path)
    try:
        width, height = video.size
        out = VideoWriter(path, (height, width), round(fps))
        for k in range(n):
            image = video.find(span.begin + k / fps)
            if image is not None:
                out.add(image)
        out.close()
    finally:
        video.close()


def _make_info(clip: Clip, totals: Totals) -> dict[str, Any]:
    info: Mapping[str, Any] = clip.source.info
    features = {k: v for k, v in clip.source.features.items() if k not in FEATURES}
    n_videos = len(_list_videos(clip))
    return {
        "codebase_version": VERSION,
        "robot_type": info.get("robot_type"),
        "total_episodes": totals.n_episodes,
        "total_frames": totals.n_frames,
        "total_tasks": len(totals.tasks),
        "total_videos": n_videos * totals.n_episodes,
        "total_chunks": -(-totals.n_episodes // CHUNK),
        "chunks_size": CHUNK,
        "fps": info["fps"],
        "splits": {"train": f"0:{totals.n_episodes}"},
        "data_path": _DATA,
        "video_path": _VIDEO if n_videos else None,
        "features": features,
    }
