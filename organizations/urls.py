"""Doors of who."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from organizations import views

app_name = "organizations"
urlpatterns = [
    path("sign-in", views.SignInView.as_view(), name="sign_in"),
    path("sign-out", LogoutView.as_view(), name="sign_out"),
    path("settings", views.settings_page, name="settings"),
    path("organization", views.switch_organization, name="switch"),
    path("verify-email", views.VerifyEmailView.as_view(), name="verify_email_page"),
    path("verify-email/<str:token>", views.LinkView.as_view(page=views.VERIFY_PAGE), name="verify_email"),
    path("invitation", views.InvitationView.as_view(), name="invitation_page"),
    path("invitation/<str:token>", views.LinkView.as_view(page=views.INVITATION_PAGE), name="invitation"),
]
