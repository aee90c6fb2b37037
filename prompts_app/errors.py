"""What can go wrong with prompts, in sentences for a person."""

from core.errors import Conflict, Invalid, NotFound


class PromptNotFound(NotFound):
    code = "prompt_not_found"
    detail = "Prompt not found"


class PromptInvalid(Invalid):
    code = "prompt_invalid"
    detail = "This prompt is not valid."


class PromptNameTaken(Conflict):
    code = "prompt_name_taken"
    detail = "A prompt with this name already exists."


class PromptChanged(Conflict):
    """Somebody saved a newer version in the meantime."""

    code = "prompt_changed"
    detail = "The prompt was changed since."


class DefaultPromptFixed(Conflict):
    code = "default_prompt_fixed"
    status = 400
    detail = "The built-in prompt cannot be changed or deleted. Make a prompt of your own instead."
