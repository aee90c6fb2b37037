"""What the agent's JSON doors refuse, beside what the services refuse."""

from core.errors import Invalid, NotFound, Unavailable


class TurnUnknown(NotFound):
    """At a turn's own address. Decisions answer as the reference does: `agent.errors.TurnNotFound`."""

    code = "turn_not_found"
    detail = "Turn not found"


class TurnFailed(Invalid):
    """The turn ended with an error that asking again does not mend (no key, a model that refuses)."""

    code = "turn_failed"


class TurnFailedForNow(Unavailable):
    """The turn ended with an error; asking again may help."""

    code = "turn_failed"


class QuestionMissing(Invalid):
    code = "question_missing"
    detail = "There is no question: send at least one message with the role user and some text."


class NeedsStream(Invalid):
    code = "needs_stream"
    detail = "auto_approve needs stream: true, so that you see what is done."


class NothingToStop(Invalid):
    code = "nothing_to_stop"
    detail = "Name a turn_id or a thread_id."


class CursorInvalid(Invalid):
    code = "cursor_invalid"
    detail = "Last-Event-ID is the number of an event."
