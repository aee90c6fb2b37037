"""Links to share: made, listed and revoked by members; opened by whoever has the token."""

from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from rest_framework.request import Request

from core.api.operations import operation
from core.api.v1 import V1Problem
from core.ids import show_id
from documents.api.v1.documents import KEY
from documents.api.v1.share_bodies import (
    V1Share,
    V1SharedExtraction,
    V1SharedPage,
    V1ShareLink,
    V1ShareLinks,
    V1ShareMade,
    V1ShareQuery,
    V1ShareStart,
)
from documents.models import ShareLink
from documents.sharing.guarding import guarded_public, share_url, site
from documents.sharing.redaction import up_to_date
from documents.sharing.selectors import list_share_links
from documents.sharing.services import create_share_link, look, open_share, revoke_share_link
from documents.sharing.shown import shared_fields, shared_name, shared_pages
from organizations.api.v1_doors import ORGANIZATION_HEADER, V1PublicView, V1View
from organizations.idempotency import once

TAG = "Sharing (v1)"
HEADERS = (ORGANIZATION_HEADER,)
OPENING = ("X-Share-Token", "X-Share-Ticket", "X-Share-Password")


class ShareLinksView(V1View):
    """`/v1/documents/{id}/share-links`."""

    @operation(
        "v1_create_share_link", "Make a link to share", tag=TAG, answer=V1ShareMade, body=V1ShareStart,
        errors=(400, 404, 409), headers=(KEY, *HEADERS), status=201, problem=V1Problem,
        example={"role": "view", "expiresInMs": 604_800_000, "maxViews": 20, "redact": ["iban"]},
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> HttpResponse:
        body = self.optional_body(V1ShareStart)
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route=f"v1_create_share_link {document_id}",
            fingerprint=self.raw_body(),
            work=partial(self._made, document_id, body),
            secret=True,
        )
        return JsonResponse(answer, status=201)

    def _made(self, document_id: str, body: V1ShareStart) -> dict[str, Any]:
        made = create_share_link(
            actor=self.actor,
            document_id=document_id,
            role=body.role,
            expires_in=timedelta(milliseconds=body.expires_in_ms) if body.expires_in_ms is not None else None,
            max_views=body.max_views,
            password=body.password,
            redact_paths=body.redact,
            prompt_revid=body.prompt_revid,
        )
        url = share_url(self.plain_request, made.link, made.token)
        return V1ShareMade(**V1ShareLink.facts_of(made.link), url=url, token=made.token).model_dump(mode="json")

    @operation(
        "v1_list_share_links", "List the links of a document", tag=TAG, answer=V1ShareLinks, errors=(404,),
        headers=HEADERS, problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> V1ShareLinks:
        rows = list_share_links(actor=self.actor, document_id=document_id)
        return V1ShareLinks(share_links=[V1ShareLink(**V1ShareLink.facts_of(row)) for row in rows])


class ShareLinkView(V1View):
    """`/v1/documents/{id}/share-links/{shareId}`."""

    @operation(
        "v1_revoke_share_link", "Revoke a link", tag=TAG, errors=(404,), headers=HEADERS, status=204,
        problem=V1Problem,
    )  # fmt: skip
    def delete(self, request: Request, document_id: str, share_id: str) -> HttpResponse:
        revoke_share_link(actor=self.actor, document_id=document_id, share_id=share_id)
        return HttpResponse(status=204)


class ShareView(V1PublicView):
    """`/v1/shares/{shareId}`: for whoever has the token."""

    rates: ClassVar[dict[str, str]] = {"GET": "public"}

    @operation(
        "v1_get_share", "Open a link", tag=TAG, answer=V1Share, query=V1ShareQuery, errors=(401, 410), public=True,
        headers=OPENING, problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, share_id: str) -> V1Share:
        query = self.query(V1ShareQuery)
        headers = self.plain_request.headers
        ticket = headers.get("X-Share-Ticket", query.ticket)
        if ticket:
            link = look(share_id=share_id, ticket=ticket)
        else:
            opened = open_share(
                share_id=share_id,
                token=headers.get("X-Share-Token", query.token),
                password=headers.get("X-Share-Password"),
                address=self.plain_request.META.get("REMOTE_ADDR", ""),
            )
            opened.link.refresh_from_db(fields=["views"])
            link, ticket = up_to_date(opened.link), opened.ticket
        return _share(self.plain_request, link, ticket)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A token may stand in the address: it is kept out of the log and of other sites."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        return guarded_public(answer)


def _share(request: HttpRequest, link: ShareLink, ticket: str) -> V1Share:
    fields = shared_fields(link)
    pages = [
        V1SharedPage(
            number=page.number,
            width=page.width,
            height=page.height,
            text=page.text,
            image_url=_address(request, "share:picture", link, page.number, ticket),
            words_url=_address(request, "share:words", link, page.number, ticket),
        )
        for page in shared_pages(link)
    ]
    return V1Share(
        share_id=show_id(link.pk),
        role=link.role,
        name=shared_name(link),
        expires_at=link.expires_at,
        views_left=None if link.max_views is None else max(link.max_views - link.views, 0),
        answers_left=max(link.max_answers - link.answers, 0) if link.role == ShareLink.Role.ASK else 0,
        ticket=ticket,
        ticket_seconds=settings.SHARE_TICKET_SECONDS,
        fields_only=link.fields_only,
        extraction=V1SharedExtraction(data=fields.data, grounding=fields.grounding) if fields else None,
        pages=pages,
    )


def _address(request: HttpRequest, name: str, link: ShareLink, number: int, ticket: str) -> str:
    return f"{site(request)}{reverse(name, args=[show_id(link.pk), number])}?ticket={ticket}"
