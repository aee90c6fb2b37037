"""What can go wrong with a model: one error for each kind of failure, in words for a person.

A provider's own text never gets into `detail`: it may quote the document. At most its machine-readable code does.
"""

from core.errors import Conflict, Invalid, Unavailable
from llm.types import Completion


class ModelNotEnabled(Invalid):
    code = "model_not_enabled"
    detail = "This model is not enabled here. Choose another one, or ask an administrator to enable it."


class UnknownModel(Invalid):
    code = "invalid_model"
    detail = "Invalid model."


class ProviderUnknown(Invalid):
    code = "provider_not_found"
    detail = "Provider not found"


class ProviderConfigInvalid(Invalid):
    code = "provider_config_invalid"


class ProvidersFixed(Conflict):
    code = "providers_fixed"
    detail = "Providers are set by this server's environment and cannot be changed here."


class ModelError(Unavailable):
    """A call to a model failed. `partial` carries what was said until then, `retryable` whether trying again helps."""

    code = "model_error"
    detail = "The model could not answer."
    retryable: bool = False

    def __init__(
        self, detail: str | None = None, *, retry_after: float | None = None, partial: Completion | None = None
    ) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.partial = partial


class ModelKeyRefused(ModelError):
    code = "model_key_refused"
    detail = "The model provider refused our key. An administrator has to check it."


class ModelSwitchedOff(ModelError):
    code = "model_switched_off"
    detail = "An administrator switched this model or its provider off. Choose another one."


class NeverSendToModel(ModelError):
    code = "never_send_to_model"
    status = 403
    detail = (
        "This document, one that the conversation tells of, or a tag of theirs is marked “Never send to a model "
        "outside this server”. Choose the built-in model, or take the mark away."
    )


class ModelNotFound(ModelError):
    code = "model_not_found"
    detail = "The model provider does not know this model."


class ModelOutOfCredit(ModelError):
    code = "model_out_of_credit"
    detail = "The account at the model provider has no credit left."


class ModelContextTooLong(ModelError):
    code = "model_context_too_long"
    status = 400
    detail = "The conversation and the document are too long for this model."


class ModelRequestRefused(ModelError):
    code = "model_request_refused"
    status = 400
    detail = "The model provider did not accept the request."


class ModelBusy(ModelError):
    code = "model_rate_limited"
    detail = "The model provider is receiving too many requests. Try again in a moment."
    retryable = True


class ModelFailed(ModelError):
    code = "model_failed"
    detail = "The model provider had an error of its own. Try again in a moment."
    retryable = True


class ModelUnreachable(ModelError):
    code = "model_unreachable"
    detail = "The model provider could not be reached."
    retryable = True


class ModelTimeout(ModelError):
    code = "model_timeout"
    detail = "The model took too long to answer."
    retryable = True


class ModelStreamBroken(ModelError):
    code = "model_stream_broken"
    detail = "The answer broke off in the middle."
    retryable = True


class ModelReplyMalformed(ModelError):
    code = "model_reply_malformed"
    detail = "The model provider sent something that is not an answer."
    retryable = True


class ModelReplyEmpty(ModelError):
    code = "model_reply_empty"
    detail = "The model sent an empty answer."
    retryable = True


class ModelReplyCut(ModelError):
    code = "model_reply_cut"
    detail = "The answer reached the model's length limit before it was complete."


class ModelReplyTooLong(ModelError):
    code = "model_reply_too_long"
    detail = "The model did not stop talking, so it was cut off."
