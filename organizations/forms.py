"""The sign-in form."""

from django.contrib.auth.forms import AuthenticationForm
from django.forms import EmailField, EmailInput
from django.utils.translation import gettext_lazy as _


class SignInForm(AuthenticationForm):
    """E-mail and password; one message for a wrong address and a wrong password."""

    username = EmailField(label=_("E-mail"), widget=EmailInput(attrs={"autofocus": True, "autocomplete": "username"}))

    error_messages = {
        "invalid_login": _("That e-mail and password do not match."),
        "inactive": _("That e-mail and password do not match."),
    }
