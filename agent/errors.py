"""What can go wrong with threads and turns."""

from core.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable


class TurnNotFound(NotFound):
    """Unknown, foreign, malformed, expired or ended: nobody can tell which."""

    code = "turn_not_found"
    status = 400
    detail = "Turn expired or not found"


class ThreadNotFound(NotFound):
    code = "thread_not_found"
    detail = "Thread not found"


class MessageNotFound(NotFound):
    code = "message_not_found"
    detail = "Message not found"


class ToolCallNotFound(NotFound):
    code = "tool_call_not_found"
    detail = "Tool call not found"


class RuleNotFound(NotFound):
    code = "rule_not_found"
    detail = "Rule not found"


class TurnOpen(Conflict):
    """`extra["turn_id"]` names the turn that is in the way."""

    code = "turn_open"
    detail = "This conversation has a turn that is still running or waiting. Decide or stop it first."


class ArgumentsChanged(Conflict):
    code = "arguments_changed"
    detail = "These are not the arguments that were shown. Look at the card again."


class UnknownCall(Invalid):
    code = "unknown_call"
    detail = "This turn has no such call."


class QuestionInvalid(Invalid):
    code = "question_invalid"
    detail = "A question needs 1 to 100,000 characters."


class RuleInvalid(Invalid):
    code = "rule_invalid"
    detail = "This rule is not possible."


class AuthorOnly(Forbidden):
    code = "author_only"
    detail = "Only the author of this conversation may do this."


class UndoImpossible(Conflict):
    code = "undo_impossible"
    detail = "This cannot be undone any more: the object changed since."


class ShuttingDown(Unavailable):
    code = "shutting_down"
    detail = "The server is restarting. Try again in a moment."
