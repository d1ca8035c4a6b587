"""What the pytest plugin asks of every launch of a test; nothing outside of pytest."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Session:
    """What launches are asked besides what their calls say."""

    #: Checks of every launch.
    check: list[str] = field(default_factory=list)
    #: How many seeds each launch is hunted by before it runs.
    seeds: int = 0
    #: A schedule that is replayed by the launch that it belongs to.
    schedule: str | None = None
    #: The kernels whose launches it was replayed by.
    replays: list[str] = field(default_factory=list)

    @property
    def asks(self) -> bool:
        """Whether launches do more than run."""
        return self.seeds > 0 or self.schedule is not None


#: That of the test that runs now.
current: Session | None = None
