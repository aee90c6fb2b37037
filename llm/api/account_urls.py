"""Addresses of models and providers below `v0/account/`."""

from django.urls import path

from llm.api import views

urlpatterns = [
    path("llm/models", views.AccountModelsView.as_view(), name="account_llm_models"),
    path("llm/providers", views.ProvidersView.as_view(), name="llm_providers"),
    path("llm/provider/<str:provider_name>", views.ProviderView.as_view(), name="llm_provider"),
    path("llm/run", views.AccountRunView.as_view(), name="account_llm_run"),
    path("llm/test/embedding", views.EmbeddingView.as_view(), name="llm_test_embedding"),
]
