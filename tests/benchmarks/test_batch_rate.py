"""What a batch is to keep of its cores and its memory, and a driver of many cells."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from benchmarks import batch_rate, recording


@pytest.mark.parametrize(
    ("two", "held", "code"), [(1.9, 103.0, 0), (1.7, 100.0, 1), (1.9, 105.0, 1)]
)
def test_a_batch_that_wastes_cores_or_grows_fails(monkeypatch, two, held, code):
    rates = iter([(1.0, ""), (two, "")])
    monkeypatch.setattr(batch_rate, "measure_rate", lambda *_: next(rates))
    told = {"mb_at_tenths": [100.0, held]}
    monkeypatch.setattr(batch_rate, "watch_driver", lambda *_: told)

    assert batch_rate.main([]) == code


@pytest.mark.parametrize(("late", "code"), [(260.0, 0), (280.0, 1)])
def test_a_verb_that_takes_more_memory_for_hours_fails(monkeypatch, late, code):
    peaks = iter(
        [{"info": 190.0, "evaluate": 256.0}, {"info": 190.0, "evaluate": late}]
    )
    monkeypatch.setattr(recording, "_watch_recorder", lambda *_: None)
    monkeypatch.setattr(recording, "_measure", lambda *_: next(peaks))

    assert recording.main([]) == code


@pytest.mark.long
def test_a_driver_of_many_cells_has_each_in_its_table_once(tmp_path):
    told = batch_rate.watch_driver(tmp_path, 60)

    assert len(told["mb_at_tenths"]) == 10
    rows = pq.read_table(tmp_path / "many" / "table.parquet", columns=["index", "seed"])
    assert rows["index"].to_pylist() == rows["seed"].to_pylist() == list(range(60))
