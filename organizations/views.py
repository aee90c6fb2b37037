"""Pages: sign in, sign out, switch organization."""

from typing import Any

from django.conf import settings
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from organizations import lockout
from organizations.doors import MemberRequest, member_page
from organizations.forms import SignInForm
from organizations.middleware import SESSION_KEY
from organizations.selectors import actor_for


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
