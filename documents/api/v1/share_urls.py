"""Addresses of links to share and of publications."""

from django.urls import path

from documents.api.v1 import publications, shares

_LINKS = "v1/documents/<str:document_id>/share-links"

urlpatterns = [
    path(_LINKS, shares.ShareLinksView.as_view(), name="v1_share_links"),
    path(f"{_LINKS}/<str:share_id>", shares.ShareLinkView.as_view(), name="v1_share_link"),
    path("v1/shares/<str:share_id>", shares.ShareView.as_view(), name="v1_share"),
    path("v1/documents/<str:document_id>/publish", publications.PublishView.as_view(), name="v1_publish"),
    path("p/<str:slug>.json", publications.PublicationView.as_view(), name="v1_publication"),
]
