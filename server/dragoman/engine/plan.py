"""What the registry has for each step loop."""

import threading
from dataclasses import dataclass, field

from dragoman.engine.errors import EngineError
from dragoman.engine.job import Job


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens before a loop's next step.

    Attributes:
        ended: jobs that end without an answer, and why; their rows are free again.
        admitted: the job of each branch that gets rows, once for each branch.
        aligned: jobs that are done but for their answer.
    """

    ended: list[tuple[Job, EngineError]]
    admitted: list[Job]
    aligned: list[Job]


NOTHING = Plan([], [], [])


@dataclass(slots=True)
class Inbox:
    """What waits for one step loop; guarded by the lock of `wake`.

    Attributes:
        wake: notified when something comes in.
        admitted: the job of each branch that has been given rows.
        aligned: jobs that are done but for their answer.
    """

    wake: threading.Condition
    admitted: list[Job] = field(default_factory=list)
    aligned: list[Job] = field(default_factory=list)

    def admit(self, job: Job) -> None:
        """Let a branch of a job begin."""
        self.admitted.append(job)
        self.wake.notify()

    def answer(self, job: Job) -> None:
        """Let a job be answered."""
        self.aligned.append(job)
        self.wake.notify()

    def take_admitted(self) -> list[Job]:
        """Take the job of each branch that is to begin."""
        taken, self.admitted = self.admitted, []
        return taken

    def take_aligned(self) -> list[Job]:
        """Take the jobs that are to be answered."""
        taken, self.aligned = self.aligned, []
        return taken

    def withdraw(self, job: Job) -> int:
        """Forget branches of a job that have not begun; give how many they were."""
        count = self.admitted.count(job)
        if count:
            self.admitted = [each for each in self.admitted if each is not job]
        return count
