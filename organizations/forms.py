"""The forms of who: signing in, taking an invitation."""

from django.contrib.auth.forms import AuthenticationForm
from django.forms import CharField, EmailField, EmailInput, Form, PasswordInput
from django.utils.translation import gettext_lazy as _


class SignInForm(AuthenticationForm):
    """E-mail and password; one message for a wrong address and a wrong password."""

    username = EmailField(label=_("E-mail"), widget=EmailInput(attrs={"autofocus": True, "autocomplete": "username"}))

    error_messages = {
        "invalid_login": _("That e-mail and password do not match."),
        "inactive": _("That e-mail and password do not match."),
    }


class InvitationForm(Form):
    """The name and the password of a new person. The service says what is wrong with them."""

    name = CharField(label=_("Name"), max_length=200, required=False)
    password = CharField(
        label=_("Password"),
        max_length=1024,
        required=False,
        strip=False,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def values(self) -> dict[str, str]:
        """What was typed and can be used."""
        self.full_clean()
        return {"name": self.cleaned_data.get("name", ""), "password": self.cleaned_data.get("password", "")}
