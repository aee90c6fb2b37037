"""The form of a schema: a name, and the response format as JSON text."""

import json
from typing import Any

from django import forms

from core.errors import DomainError
from schemas_app.errors import SchemaInvalid
from schemas_app.validation import MAX_JSON_CHARS, check_strict, parse_json

EXAMPLE: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "invoice",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "invoice_number": {"type": "string", "description": "The number that the seller gave the invoice"},
                "total_amount": {"type": "number", "description": "Amount to pay, taxes included"},
            },
            "required": ["invoice_number", "total_amount"],
            "additionalProperties": False,
        },
    },
}


def as_text(response_format: object) -> str:
    """A response format for a text box."""
    return json.dumps(response_format, indent=2, ensure_ascii=False)


class SchemaForm(forms.Form):
    """What is wrong with the JSON is said beside it, each problem with its path and its mend."""

    name = forms.CharField(max_length=200)
    response_format = forms.CharField(
        label="Response format (JSON)",
        max_length=MAX_JSON_CHARS,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "mono"}),
        help_text="Every field is required; a value that is missing in a document stays empty.",
    )

    def clean_response_format(self) -> Any:
        """The checked object."""
        try:
            return check_strict(parse_json(self.cleaned_data["response_format"]))
        except SchemaInvalid as problem:
            messages = [f"{path}: {text}" for path, text in problem.fields.items()]
            raise forms.ValidationError(messages or [problem.detail]) from problem

    def tell(self, problem: DomainError) -> None:
        """A rule said no: the sentence goes beside the field that it names."""
        self.add_error(next((name for name in problem.fields if name in self.fields), None), problem.detail)
