"""Where on the page does a value stand? Deterministic: words and boxes in, page, boxes, quote and state out."""

from documents.grounding.leaves import is_empty, leaves_of
from documents.grounding.places import Grounding, State, ground

__all__ = ["Grounding", "State", "ground", "is_empty", "leaves_of"]
