"""Addresses of webhooks, below an organization's."""

from django.urls import path

from webhooks.api import views

urlpatterns = [
    path("webhooks", views.WebhooksView.as_view(), name="webhooks"),
    path("webhooks/deliveries", views.DeliveriesView.as_view(), name="webhook_deliveries"),
    path("webhooks/deliveries/<str:delivery_id>", views.DeliveryView.as_view(), name="webhook_delivery"),
    path(
        "webhooks/deliveries/<str:delivery_id>/retry", views.DeliveryRetryView.as_view(), name="webhook_delivery_retry"
    ),
    path("webhooks/<str:webhook_id>", views.WebhookView.as_view(), name="webhook"),
    path("webhooks/<str:webhook_id>/test", views.WebhookTestView.as_view(), name="webhook_test"),
]
