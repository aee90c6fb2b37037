"""The list of prompts over JSON, with those that apply to one document."""

from documents.selectors import get_document
from prompts_app.api.bodies import PromptAnswer, PromptsAnswer, PromptsQuery
from prompts_app.api.views import PromptsView
from prompts_app.selectors import list_prompts

NAME_OF_DEFAULT = "Default Prompt"
"""A prompt with this name stands in for the built-in one, as it does in the reference."""


class DocumentPromptsView(PromptsView):
    """The organization's prompts, or those of one document."""

    def found(self, asked: PromptsQuery) -> PromptsAnswer:
        """With `document_id`: prompts that share a tag with it; without tags, what runs on it by default."""
        if not asked.document_id:
            return super().found(asked)
        document = get_document(actor=self.actor, document_id=asked.document_id)
        tag_ids = [tag.pk for tag in document.tags.all() if tag.deleted_at is None]
        query = asked.model_dump(exclude={"tag_ids", "document_id"})
        if tag_ids:
            found = list_prompts(actor=self.actor, any_tag_ids=tag_ids, tag_ids=asked.tags(), **query)
            return PromptsAnswer.of(found)
        if not document.organization.default_prompt_enabled:
            return PromptsAnswer(prompts=[], total_count=0, skip=asked.skip)
        own = list_prompts(actor=self.actor, named=NAME_OF_DEFAULT, tag_ids=asked.tags(), **query | {"skip": 0})
        plain = not (asked.tags() or asked.name_search or asked.filters)
        shown = [PromptAnswer.built_in()] if plain else []
        return PromptsAnswer.of_all(
            [*shown, *(PromptAnswer.of(revision) for revision in own.rows)], skip=asked.skip, limit=asked.limit
        )
