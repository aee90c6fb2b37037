"""The form of a tag."""

import re
from typing import Any

from django import forms

from tags_app.models import DEFAULT_COLOR
from tags_app.services import MAX_DESCRIPTION

_HEX = re.compile(r"#[0-9a-fA-F]{6}")


class TagForm(forms.Form):
    """Name, color, description, the mark. The services check what they mean."""

    name = forms.CharField(max_length=200)
    color = forms.CharField(max_length=32, required=False, initial=DEFAULT_COLOR)
    description = forms.CharField(
        max_length=MAX_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What it is for.",
    )
    never_send = forms.BooleanField(
        label="Never send to a model outside this server",
        required=False,
        help_text="Documents with this tag are read by the built-in model only.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if _HEX.fullmatch(str(self["color"].value() or "")):
            self.fields["color"].widget.input_type = "color"
            self.fields["color"].widget.attrs["style"] = "width: 64px"
