"""The form of a prompt: text, schema, model, tags. What it does not show (include, peer keys) stays as it was."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from core.errors import DomainError
from llm.catalog import chat_models
from llm.seeds import CLIENTS_MODEL
from prompts_app.config import MAX_CONTENT, PromptConfig
from schemas_app.models import SchemaRevision
from tags_app.models import Tag

_FIELDS = {"schema_id": "schema", "schema_version": "schema", "tag_ids": "tags"}


class PromptForm(forms.Form):
    """Choices come from the view: rows are read by selectors only."""

    name = forms.CharField(max_length=200)
    content = forms.CharField(
        label="Text",
        max_length=MAX_CONTENT,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="What the model is told to do. The document's text is added by the system.",
    )
    schema = forms.ChoiceField(required=False, help_text="The fields of the answer. Without one the answer is free.")
    model = forms.CharField(max_length=200, initial=CLIENTS_MODEL, widget=forms.TextInput(attrs={"list": "models"}))
    tags = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="The prompt applies to documents that share a tag with it.",
    )

    def __init__(
        self, *arguments: Any, schemas: Sequence[SchemaRevision], own_tags: Sequence[Tag], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        chosen = [(f"{row.schema_id.hex}:{row.version}", f"{row.schema.name} v{row.version}") for row in schemas]
        self.fields["schema"].choices = [("", "None"), *chosen]  # type: ignore[attr-defined]  # a ChoiceField
        self.fields["tags"].choices = [(tag.pk.hex, tag.name) for tag in own_tags]  # type: ignore[attr-defined]  # same

    @property
    def models(self) -> list[str]:
        """Names to choose from; others that are known may be typed."""
        return list(dict.fromkeys([CLIENTS_MODEL, *(model.name for model in chat_models())]))

    def config(self, before: PromptConfig | None = None) -> PromptConfig:
        """What was typed, over what the form does not show."""
        typed = self.cleaned_data
        schema_id, _, version = typed["schema"].partition(":")
        base = before or PromptConfig(name="", content="")
        return replace(
            base,
            name=typed["name"],
            content=typed["content"],
            schema_id=schema_id or None,
            schema_version=int(version) if version else None,
            model=typed["model"],
            tag_ids=typed["tags"],
        )

    def tell(self, problem: DomainError) -> None:
        """A rule said no: the sentence goes beside the field that it names."""
        names = [_FIELDS.get(name, name) for name in problem.fields]
        about_model = "model" if problem.error_code == "invalid_model" else None
        self.add_error(next((name for name in names if name in self.fields), about_model), problem.detail)


def initial_of(config: PromptConfig) -> dict[str, Any]:
    """A prompt as the form shows it."""
    pinned = f"{config.schema_id}:{config.schema_version}" if config.schema_id else ""
    return {
        "name": config.name,
        "content": config.content,
        "schema": pinned,
        "model": config.model,
        "tags": list(config.tag_ids),
    }
