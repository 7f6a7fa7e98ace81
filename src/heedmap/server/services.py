"""What the endpoints share: the worker, the lab's runs, and the models that may be asked for."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedmap.server.instance import state_folder
from heedmap.server.lessons import Lessons
from heedmap.server.models import ServedModel, find_served, served_models
from heedmap.server.runs import Runs
from heedmap.server.worker_client import Worker


@dataclass(slots=True)
class Services:
    """The parts of one running application.

    Attributes:
        token: what requests that change something must carry.
        identity: what `api/status` answers, so that a second start knows the first.
        folders: models that were named at the start.
        state: the folder of the lab's runs and of the note.
        worker: the process that holds the models.
        lessons: the course.
        runs: the lab's runs.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    identity: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    folders: tuple[Path, ...] = ()
    state: Path = field(default_factory=state_folder)
    worker: Worker = field(default_factory=Worker)
    lessons: Lessons = field(default_factory=Lessons)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self.state / "runs")

    def models(self) -> list[ServedModel]:
        """The models that may be asked for, as they are now."""
        return served_models(self.folders)

    def source(self, name: str) -> str:
        """What to load for a name.

        Raises:
            ModelNotHere: the application does not serve it.
        """
        return find_served(self.models(), name).source

    async def close(self) -> None:
        """End what runs."""
        await self.runs.close()
        self.worker.close()

    def status(self) -> dict[str, Any]:
        """What is told to whoever asks: nothing secret."""
        return {"identity": self.identity, "worker": self.worker.process_id, "workerStarts": self.worker.starts}
