"""Runs on a Ray cluster: each task measures some batches and writes a row file, and Ray does tasks again that die.

The row files come back through Ray, so that the machines need no common disk; here they lie in the folder of the run
like those that were written here, and everything is concluded from them. Workers need Heedmap and the model (a name
that they can load themselves), nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from heedmap.errors import HeedmapError, MissingExtra, ModelError, OutOfRange
from heedmap.files import temporary_folder
from heedmap.lab.identity import describe
from heedmap.lab.measure import Measured, rows_of_batch, waiting_batches
from heedmap.lab.plan import Part
from heedmap.lab.request import Request
from heedmap.lab.row_files import RowFiles

if TYPE_CHECKING:
    from heedmap.lab.run import RunPlace

TASK_BATCHES = 8
"""Batches that one task measures: a task that dies loses no more than these."""

RETRIES = 5
"""How often Ray does a task again whose worker died."""

Answer = tuple[bytes, dict[str, str]]
"""The row file of a task, and the items that it could not measure."""


def run_on_ray(place: RunPlace, part: Part) -> Measured:
    """The engine that hands batches to a Ray cluster: the one that RAY_ADDRESS names, or a local one.

    Args:
        place: the run.
        part: the experiment to run.

    Raises:
        MissingExtra: ray is not installed.
        OutOfRange: it is a shard: Ray shares out the whole run by itself.
        HeedmapError: an item cannot be measured, or a task died too often.
    """
    ray = _ray()
    request = place.request
    if not request.shard.is_all:
        raise OutOfRange("--shard and --engine ray both share out the run: give one of them")
    files = RowFiles(place.folder, part.name)
    batches = part.of_shard(request.shard)
    waiting = waiting_batches(files, batches, place.note)
    total = sum(map(len, batches))
    done = total - sum(map(len, waiting))
    numbers = {id(batch): number for number, batch in enumerate(batches)}
    skipped: dict[str, str] = {}
    started_here = not ray.is_initialized()
    if started_here:
        ray.init(log_to_driver=False, logging_level="warning")
    try:
        asked = {**request.to_json(), "sha256": describe(place.model)["sha256"]}
        tasks = _tasks(ray, asked, part.name, [numbers[id(batch)] for batch in waiting])
        for group, (content, failed) in _answers(ray, tasks):
            files.adopt(content)
            skipped |= failed
            done += sum(len(batches[number]) for number in group)
            if place.progress is not None:
                place.progress(done, total, f"{part.name} on Ray")
        table = files.finish() if waiting or not files.is_finished else files.table()
    finally:
        files.close()
        if started_here:
            ray.shutdown()
    assert table is not None
    return Measured(part, table, skipped)


def _ray() -> Any:
    """The package ray."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("--engine ray needs the package ray: pip install 'heedmap[ray]'") from None
    return ray


def _tasks(ray: Any, asked: dict[str, Any], name: str, numbers: Sequence[int]) -> dict[Any, list[int]]:
    """Start all tasks; which batches each measures."""
    remote = ray.remote(max_retries=RETRIES, num_cpus=1)(measure_batches)
    groups = [list(numbers[start : start + TASK_BATCHES]) for start in range(0, len(numbers), TASK_BATCHES)]
    return {remote.remote(asked, name, group): group for group in groups}


def _answers(ray: Any, tasks: dict[Any, list[int]]) -> Iterator[tuple[list[int], Answer]]:
    """The answers of tasks as they come."""
    left = list(tasks)
    while left:
        ready, left = ray.wait(left)
        for one in ready:
            try:
                yield tasks[one], ray.get(one)
            except ray.exceptions.RayTaskError as error:
                cause = error.cause if isinstance(error.cause, HeedmapError) else None
                raise cause or HeedmapError(f"a task on Ray failed: {str(error).splitlines()[-1]}") from None
            except ray.exceptions.RayError as error:
                words = str(error).splitlines()[0]
                raise HeedmapError(f"a task on Ray died {RETRIES + 1} times ({words}): go on with --resume") from None


def measure_batches(asked: dict[str, Any], name: str, numbers: list[int]) -> Answer:
    """What runs in a worker: measure some batches of a run and hand back their row file.

    Args:
        asked: the request, as JSON, and under "sha256" the hash of the weights that the figures are for.
        name: the experiment.
        numbers: which of its batches.
    """
    request = Request.from_json(asked)
    model = _model(json.dumps(asked["model"]), asked["sha256"])
    part = next(part for part in request.parts() if part.name == name)
    skipped: dict[str, str] = {}
    with temporary_folder() as folder:
        files = RowFiles(folder, name)
        for number in numbers:
            batch = [part.items[place] for place in part.batches[number]]
            rows = rows_of_batch(model, part, batch, skipped if request.skip_bad else None)
            if rows:
                files.append(rows)
        return files.content(), skipped


@cache
def _model(asked: str, sha256: str) -> Any:
    """The model of this worker, loaded once.

    Raises:
        ModelError: the name stands for other weights here.
    """
    from heedmap.reading.loading import load

    given = json.loads(asked)
    model = load(given.pop("name"), **given)
    found = describe(model)["sha256"]
    if found != sha256:
        raise ModelError(f"{model.name} has other weights on a worker ({found[:12]}...) than here ({sha256[:12]}...)")
    return model
