"""Prompts over JSON. The list for one document is a view of `documents`, which knows its tags."""

from typing import Any

from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from organizations.api.doors import OrganizationView
from prompts_app import selectors, services
from prompts_app.api.bodies import PromptAnswer, PromptBody, PromptsAnswer, PromptsQuery
from prompts_app.default import DEFAULT_PROMPT_ID

EXAMPLE: dict[str, Any] = {
    "name": "Invoice",
    "content": "Read the invoice and give its number and total.",
    "schema_id": None,
    "tag_ids": [],
    "model": "gpt-4o-mini",
}


class PromptsView(OrganizationView):
    """The organization's prompts."""

    @operation(
        "list_prompts", "List the latest version of each prompt", tag="Prompts", answer=PromptsAnswer,
        query=PromptsQuery, errors=(400, 404),
    )  # fmt: skip
    def get(self, request: Request) -> PromptsAnswer:
        return self.found(self.query(PromptsQuery))

    def found(self, asked: PromptsQuery) -> PromptsAnswer:
        """The page that is asked for."""
        query = asked.model_dump(exclude={"tag_ids", "document_id"})
        return PromptsAnswer.of(selectors.list_prompts(actor=self.actor, tag_ids=asked.tags(), **query))

    @operation(
        "create_prompt", "Make a prompt, or a new version of the one with this name", tag="Prompts",
        answer=PromptAnswer, body=PromptBody, errors=(400, 404), example=EXAMPLE,
    )  # fmt: skip
    def post(self, request: Request) -> PromptAnswer:
        saved = services.create_prompt(actor=self.actor, config=self.body(PromptBody).config())
        return PromptAnswer.of(saved.revision)


class PromptView(OrganizationView):
    """One prompt: read by the id of a version, changed by the id of all its versions."""

    @operation(
        "get_prompt", 'Read one version of a prompt, by its prompt_revid or "default"', tag="Prompts",
        answer=PromptAnswer, errors=(404,),
    )  # fmt: skip
    def get(self, request: Request, prompt_id: str) -> PromptAnswer:
        if prompt_id == DEFAULT_PROMPT_ID:
            return PromptAnswer.built_in()
        return PromptAnswer.of(selectors.get_revision(actor=self.actor, prompt_revid=prompt_id))

    @operation(
        "update_prompt", "Replace a prompt, by its prompt_id", tag="Prompts", answer=PromptAnswer, body=PromptBody,
        errors=(400, 404, 409), example=EXAMPLE,
    )  # fmt: skip
    def put(self, request: Request, prompt_id: str) -> PromptAnswer:
        config = self.body(PromptBody).config()
        return PromptAnswer.of(services.update_prompt(actor=self.actor, prompt_id=prompt_id, config=config).revision)

    @operation(
        "delete_prompt", "Delete a prompt with its versions, by its prompt_id; results stay", tag="Prompts",
        answer=Message, errors=(400, 404),
    )  # fmt: skip
    def delete(self, request: Request, prompt_id: str) -> Message:
        services.delete_prompt(actor=self.actor, prompt_id=prompt_id)
        return Message(message="Prompt deleted successfully")


class PromptVersionsView(OrganizationView):
    """Every version of a prompt."""

    @operation(
        "list_prompt_versions", "List every version of a prompt, newest first", tag="Prompts", answer=PromptsAnswer,
        errors=(404,),
    )  # fmt: skip
    def get(self, request: Request, prompt_id: str) -> PromptsAnswer:
        if prompt_id == DEFAULT_PROMPT_ID:
            shown = [PromptAnswer.built_in()]
        else:
            versions = selectors.list_versions(actor=self.actor, prompt_id=prompt_id)
            shown = [PromptAnswer.of(revision) for revision in versions]
        return PromptsAnswer(prompts=shown, total_count=len(shown), skip=0)
