"""Doors of who."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from organizations import views

app_name = "organizations"
urlpatterns = [
    path("sign-in", views.SignInView.as_view(), name="sign_in"),
    path("sign-out", LogoutView.as_view(), name="sign_out"),
    path("organization", views.switch_organization, name="switch"),
    path("verify-email/<str:token>", views.VerifyEmailView.as_view(), name="verify_email"),
    path("invitation/<str:token>", views.InvitationView.as_view(), name="invitation"),
]
