"""The signs of check boxes."""

CHECKED = frozenset("☒☑✓✔✗✘✕✖⊠⊗◉⦿🗹🗷🗵")
UNCHECKED = frozenset("☐□❏❑▢○◯⚪")
