"""Addresses of the agent, below an organization's."""

from django.urls import path

from agent.api import threads, views

_CHAT = "documents/<str:document_id>/chat"

urlpatterns = [
    path(_CHAT, views.ChatView.as_view(), name="chat"),
    path(f"{_CHAT}/approve", views.ApproveView.as_view(), name="chat_approve"),
    path(f"{_CHAT}/cancel", views.CancelView.as_view(), name="chat_cancel"),
    path(f"{_CHAT}/tools", views.ToolsView.as_view(), name="chat_tools"),
    path(f"{_CHAT}/threads", threads.ThreadsView.as_view(), name="chat_threads"),
    path(f"{_CHAT}/threads/<str:thread_id>", threads.ThreadView.as_view(), name="chat_thread"),
    path(f"{_CHAT}/turns/<str:turn_id>", views.TurnStateView.as_view(), name="chat_turn"),
    path(f"{_CHAT}/turns/<str:turn_id>/events", views.TurnEventsView.as_view(), name="chat_turn_events"),
]
