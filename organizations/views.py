"""Pages: sign in, sign out, switch organization, and where the links of letters lead."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import DomainError
from organizations import lockout
from organizations.doors import MemberRequest, member_page
from organizations.forms import InvitationForm, SignInForm
from organizations.letters.selectors import get_invitation, registered
from organizations.letters.services import accept_invitation, verify_email
from organizations.middleware import SESSION_KEY
from organizations.models import User
from organizations.selectors import actor_for, get_organization
from organizations.services import OrganizationChanges, update_organization

VERIFY_PAGE, INVITATION_PAGE = "organizations:verify_email_page", "organizations:invitation_page"


class SignInView(auth_views.LoginView):
    """E-mail and password, locked after repeated failures."""

    template_name = "organizations/sign_in.html"
    form_class = SignInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            lockout.check(**self._who())
        except lockout.SignInLocked as problem:
            form = self.get_form()
            form.full_clean()
            form.errors.clear()
            form.add_error(None, problem.detail)
            response = self.render_to_response(self.get_context_data(form=form), status=problem.status)
            response["Retry-After"] = str(settings.SIGN_IN_LOCK_SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        lockout.succeeded(**self._who())
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        lockout.failed(**self._who())
        return self.render_to_response(self.get_context_data(form=form), status=422)

    def _who(self) -> dict[str, str]:
        return {
            "email": self.request.POST.get("username", "")[:320],
            "address": self.request.META.get("REMOTE_ADDR", ""),
        }


@require_http_methods(["GET", "POST"])
@member_page
def settings_page(request: MemberRequest) -> HttpResponse | HttpResponseRedirect:
    """What holds for the whole organization; its admins change it, the others see it."""
    organization_id = request.actor.organization_id
    if request.method == "POST":
        changes = OrganizationChanges(auto_create_enabled=request.POST.get("auto_create") == "1")
        update_organization(by=cast("User", request.user), organization_id=organization_id, changes=changes)
        messages.info(request, _("Saved."))
        return redirect("organizations:settings")
    return render(
        request, "organizations/settings.html", {"settings": get_organization(organization_id=organization_id)}
    )


@require_POST
@member_page
def switch_organization(request: MemberRequest) -> HttpResponseRedirect:
    """Choose another of one's own organizations for this session."""
    chosen = next(
        (m for m in request.memberships if m.organization_id.hex == request.POST.get("organization_id")), None
    )
    if chosen is not None:
        actor_for(user=chosen.user, organization_id=chosen.organization_id, via="page")
        request.session[SESSION_KEY] = chosen.organization_id.hex
    return redirect("documents:list")


@method_decorator(csrf_exempt, name="dispatch")  # it only ever leads on
class LinkView(View):
    """Where the link of a letter leads: the token goes into the session, and out of the address, log and history."""

    page = ""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        request.session[self.page] = token
        response = redirect(self.page)
        response["Referrer-Policy"] = "no-referrer"
        return response

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Without the line in the log that the framework writes, which has the whole path."""
        response = HttpResponseNotAllowed(["GET", "HEAD"])
        response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
        return response


class VerifyEmailView(View):
    """A button first: programs that follow every link in a letter confirm nothing."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "organizations/verify_email.html")

    def post(self, request: HttpRequest) -> HttpResponse:
        verify_email(token=request.session.get(VERIFY_PAGE, ""))
        messages.success(request, _("Your e-mail address is confirmed."))
        return redirect(settings.LOGIN_URL)


class InvitationView(View):
    """What is offered, and for a new person the name and the password."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, InvitationForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = InvitationForm(request.POST)
        try:
            accept_invitation(token=request.session.get(INVITATION_PAGE, ""), **form.values())
        except DomainError as problem:
            form.add_error(None, problem.detail)
            return self._page(request, form, status=422)
        messages.success(request, _("You have joined. Sign in to begin."))
        return redirect(settings.LOGIN_URL)

    @staticmethod
    def _page(request: HttpRequest, form: InvitationForm, status: int = 200) -> HttpResponse:
        invitation = get_invitation(token=request.session.get(INVITATION_PAGE, ""))
        is_known = bool(registered(emails=[invitation.email]))
        context = {"invitation": invitation, "form": form, "is_known": is_known}
        return render(request, "organizations/invitation.html", context, status=status)
