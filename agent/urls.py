"""Doors of the agent: pages, fragments, and the socket."""

from django.urls import path

from agent import review_pages, shared_pages, views
from agent.consumers import ThreadConsumer

app_name = "agent"

_TAB = "documents/<str:document_id>/agent"
_AUTO = "documents/<str:document_id>/auto-create"

urlpatterns = [
    path("s/<str:share_id>/ask", shared_pages.ask, name="share_ask"),
    path("waiting", views.waiting, name="waiting"),
    path("waiting/count", views.waiting_count, name="waiting_count"),
    path(f"{_AUTO}/accept", review_pages.accept, name="auto_create_accept"),
    path(f"{_AUTO}/tag", review_pages.tag, name="auto_create_tag"),
    path(f"{_AUTO}/reject", review_pages.reject, name="auto_create_reject"),
    path(f"{_AUTO}/retry", review_pages.retry, name="auto_create_retry"),
    path(_TAB, views.panel, name="panel"),
    path(f"{_TAB}/thread", views.thread, name="thread"),
    path(f"{_TAB}/send", views.send, name="send"),
    path(f"{_TAB}/mentions", views.mentions, name="mentions"),
    path(f"{_TAB}/turns/<str:turn_id>/decide", views.decide, name="decide"),
    path(f"{_TAB}/turns/<str:turn_id>/cancel", views.cancel, name="cancel"),
    path(f"{_TAB}/turns/<str:turn_id>/sent", views.sent, name="sent"),
    path(f"{_TAB}/calls/<str:call_id>/edit", views.edit, name="edit"),
    path(f"{_TAB}/calls/<str:call_id>/card", views.card, name="card"),
    path(f"{_TAB}/calls/<str:call_id>/undo", views.undo, name="undo"),
    path(f"{_TAB}/threads/<str:thread_id>/rename", views.rename_thread, name="rename_thread"),
    path(f"{_TAB}/threads/<str:thread_id>/share", views.share_thread, name="share_thread"),
    path(f"{_TAB}/threads/<str:thread_id>/delete", views.delete_thread, name="delete_thread"),
    path(f"{_TAB}/rules/<str:rule_id>/revoke", views.revoke_rule, name="revoke_rule"),
]

websocket_urlpatterns = [
    path("ws/documents/<str:document_id>/threads/<str:thread_id>", ThreadConsumer.as_asgi()),
]
