"""Addresses of the agent, below an organization's."""

from django.urls import path

from agent.api import auto_create, threads, views

_CHAT = "documents/<str:document_id>/chat"
_AUTO = "documents/<str:document_id>/auto_create"

urlpatterns = [
    path(_AUTO, auto_create.AutoCreateView.as_view(), name="auto_create"),
    path(f"{_AUTO}/tag", auto_create.TagPreviewView.as_view(), name="auto_create_tag"),
    path(f"{_AUTO}/accept", auto_create.AcceptView.as_view(), name="auto_create_accept"),
    path(f"{_AUTO}/reject", auto_create.RejectView.as_view(), name="auto_create_reject"),
    path(f"{_AUTO}/retry", auto_create.RetryView.as_view(), name="auto_create_retry"),
    path(_CHAT, views.ChatView.as_view(), name="chat"),
    path(f"{_CHAT}/approve", views.ApproveView.as_view(), name="chat_approve"),
    path(f"{_CHAT}/cancel", views.CancelView.as_view(), name="chat_cancel"),
    path(f"{_CHAT}/tools", views.ToolsView.as_view(), name="chat_tools"),
    path(f"{_CHAT}/threads", threads.ThreadsView.as_view(), name="chat_threads"),
    path(f"{_CHAT}/threads/<str:thread_id>", threads.ThreadView.as_view(), name="chat_thread"),
    path(f"{_CHAT}/turns/<str:turn_id>", views.TurnStateView.as_view(), name="chat_turn"),
    path(f"{_CHAT}/turns/<str:turn_id>/events", views.TurnEventsView.as_view(), name="chat_turn_events"),
]
