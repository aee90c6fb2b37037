"""Paths for load balancers and monitoring; no sign-in, no tenant."""

from django.urls import path

from docrouter import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
