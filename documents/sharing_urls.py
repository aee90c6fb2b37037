"""Doors of shared and published documents, for people without an account."""

from django.urls import path

from documents.api.v1.publications import PublicationView
from documents.sharing.guarding import by_preference
from documents.views import publications, sharing

app_name = "share"
urlpatterns = [
    path("s/<str:share_id>", sharing.shared_page, name="page"),
    path("s/<str:share_id>/pages/<int:number>/image", sharing.picture, name="picture"),
    path("s/<str:share_id>/pages/<int:number>/words", sharing.words, name="words"),
    path("s/<str:share_id>/<str:token>", sharing.enter, name="enter"),
    path("p/<str:slug>", by_preference(publications.publication, PublicationView.as_view()), name="publication"),
    path("p/<str:slug>/pages/<int:number>/image", publications.published_page, name="published_page"),
]
