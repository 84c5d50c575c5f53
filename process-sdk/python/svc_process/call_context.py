"""CallContext: what a call is given besides its input. A repetition of the call has the same."""

from __future__ import annotations

from typing import Any, Sequence


class CallContext:
    """Time, seed and metadata of a call."""

    __slots__ = ("metadata", "now_ms", "seed")

    def __init__(self, now_ms: int, seed: int, metadata: Sequence[tuple[str, str]]) -> None:
        self.now_ms = now_ms
        self.seed = seed
        self.metadata = metadata

    @staticmethod
    def of(frame: Any) -> CallContext:
        """Reads the context of a frame."""
        pairs = [(one.name, one.value) for one in frame.metadata]
        return CallContext(frame.now_ms, (frame.seed_high << 32) | frame.seed_low, pairs)

    def metadata_of(self, name: str) -> str | None:
        """Returns the value of a name; None if there is none."""
        for known, value in self.metadata:
            if known == name:
                return value
        return None
