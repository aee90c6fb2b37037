"""Doors of webhooks."""

from django.urls import path

from webhooks import views

app_name = "webhooks"
urlpatterns = [
    path("settings/webhooks", views.webhooks_page, name="list"),
    path("settings/webhooks/new", views.create_page, name="create"),
    path("settings/webhooks/deliveries/<str:delivery_id>", views.delivery_page, name="delivery"),
    path("settings/webhooks/deliveries/<str:delivery_id>/retry", views.retry_page, name="retry"),
    path("settings/webhooks/<str:webhook_id>", views.webhook_page, name="detail"),
    path("settings/webhooks/<str:webhook_id>/edit", views.edit_page, name="edit"),
    path("settings/webhooks/<str:webhook_id>/secret", views.secret_page, name="secret"),
    path("settings/webhooks/<str:webhook_id>/test", views.test_page, name="test"),
    path("settings/webhooks/<str:webhook_id>/delete", views.delete_page, name="delete"),
]
