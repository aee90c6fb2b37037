"""The limits of reading one file. The caller fills them from settings; nothing here reads any."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Units: bytes, pages, pixels, seconds; `render_pixels` caps one rendered page image."""

    upload_bytes: int = 100 * 1024 * 1024
    pages: int = 2_000
    pixels: int = 100_000_000
    page_seconds: float = 60.0
    document_seconds: float = 1_800.0
    memory_bytes: int = 2 * 1024**3
    render_pixels: int = 16_000_000
    converted_characters: int = 5_000_000

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(**data)
