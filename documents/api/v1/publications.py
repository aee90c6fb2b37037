"""Publications: made and withdrawn by members, read by everybody who has the address."""

from functools import partial
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from rest_framework.request import Request

from core.api.operations import operation
from core.api.v1 import V1Problem, respond
from core.ids import show_id
from documents.api.v1.documents import KEY
from documents.api.v1.share_bodies import (
    V1Publication,
    V1PublicationMade,
    V1Publications,
    V1PublishedPage,
    V1PublishStart,
)
from documents.api.v1.shares import HEADERS, TAG
from documents.models import Publication
from documents.publishing import find_publication, list_publications, publish, unpublish
from documents.sharing.guarding import guarded_public, published, site
from organizations.api.v1_doors import V1PublicView, V1View
from organizations.idempotency import once


class PublishView(V1View):
    """`/v1/documents/{id}/publish`."""

    @operation(
        "v1_publish_document", "Publish the result of a document, or withdraw all that is published", tag=TAG,
        answer=V1PublicationMade, body=V1PublishStart, errors=(400, 404, 409), example={"includePages": False},
        headers=(KEY, *HEADERS), status=201, or_status=200, problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> HttpResponse:
        body = self.optional_body(V1PublishStart)
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route=f"v1_publish_document {document_id}",
            fingerprint=self.raw_body(),
            work=partial(self._done, document_id, body),
        )
        return JsonResponse(answer, status=200 if body.unpublish else 201)

    def _done(self, document_id: str, body: V1PublishStart) -> dict[str, Any]:
        if body.unpublish:
            row = unpublish(actor=self.actor, document_id=document_id, publication_id=body.publication_id)[-1]
        else:
            row = publish(
                actor=self.actor,
                document_id=document_id,
                prompt_revid=body.prompt_revid,
                run_id=body.run_id,
                with_pages=body.include_pages,
            )
        return _made(self.plain_request, row).model_dump(mode="json")

    @operation(
        "v1_list_publications", "List the publications of a document", tag=TAG, answer=V1Publications, errors=(404,),
        headers=HEADERS, problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> V1Publications:
        rows = list_publications(actor=self.actor, document_id=document_id)
        return V1Publications(publications=[_made(self.plain_request, row) for row in rows])


class PublicationView(V1PublicView):
    """`/p/{slug}.json`, and `/p/{slug}` for whoever asks for JSON."""

    rates: ClassVar[dict[str, str]] = {"GET": "public"}

    @operation(
        "v1_get_publication", "Read a publication", tag=TAG, answer=V1Publication, errors=(404, 410), public=True,
        problem=V1Problem, headers=("If-None-Match",),
    )  # fmt: skip
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        row = find_publication(slug=slug)
        return published(self.plain_request, row, "json", lambda: respond(_publication(self.plain_request, row), 200))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Access-Control-Allow-Origin"] = "*"
        return guarded_public(answer)


def _publication(request: HttpRequest, row: Publication) -> V1Publication:
    pages = [
        V1PublishedPage(**page, image_url=_picture_url(request, row, page["number"])) for page in row.payload["pages"]
    ]
    return V1Publication.of(row, pages)


def _picture_url(request: HttpRequest, row: Publication, number: int) -> str:
    return site(request) + reverse("share:published_page", args=[row.slug, number])


def _made(request: HttpRequest, row: Publication) -> V1PublicationMade:
    return V1PublicationMade(
        publication_id=show_id(row.pk),
        version=row.number,
        url=site(request) + reverse("share:publication", args=[row.slug]),
        published_at=row.created_at,
        withdrawn_at=row.withdrawn_at,
    )
