"""What can go wrong with threads and turns."""

from core.errors import Conflict, Forbidden, Invalid, LimitReached, NotFound, Unavailable


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


class AnswerInvalid(Unavailable):
    """`retryable` is always true: another try may work."""

    code = "answer_invalid"
    detail = "The model did not answer in the form that was asked for. Try again, or choose another model."
    retryable = True


class AnswerCostLimit(LimitReached):
    code = "cost_limit_reached"
    detail = "This question reached its cost limit."


class AnswerCrashed(Unavailable):
    code = "internal_error"
    status = 500
    detail = "Something went wrong on our side. Try again."
    retryable = True


class InputInvalid(Invalid):
    """What was sent as a question is none that can be answered here."""

    code = "input_invalid"
    detail = "Ask a question as text."


class ResponseNotFound(NotFound):
    code = "response_not_found"
    detail = "Response not found"


class NotSupported(Invalid):
    """Something that OpenAI's API has and that would change the answer if it were done."""

    code = "not_supported"
    detail = "This is not possible here."
