"""Tags over JSON. Deleting one is a view of `documents`, which knows what uses it."""

from rest_framework.request import Request

from core.api.bodies import GridQuery
from core.api.operations import operation
from organizations.api.doors import OrganizationView
from tags_app import selectors, services
from tags_app.api.bodies import TagAnswer, TagBody, TagsAnswer

EXAMPLE = {"name": "Invoice", "color": "#3B82F6", "description": "Everything we have to pay"}


class TagsView(OrganizationView):
    """The organization's tags."""

    @operation("list_tags", "List the tags", tag="Tags", answer=TagsAnswer, query=GridQuery, errors=(400,))
    def get(self, request: Request) -> TagsAnswer:
        found = selectors.list_tags(actor=self.actor, **self.query(GridQuery).model_dump())
        return TagsAnswer(
            tags=[TagAnswer.of(tag) for tag in found.rows], total_count=found.total_count, skip=found.skip
        )

    @operation("create_tag", "Make a tag", tag="Tags", answer=TagAnswer, body=TagBody, errors=(400,), example=EXAMPLE)
    def post(self, request: Request) -> TagAnswer:
        return TagAnswer.of(services.create_tag(actor=self.actor, **self.body(TagBody).model_dump()))


class TagView(OrganizationView):
    """One tag."""

    @operation("get_tag", "Read a tag", tag="Tags", answer=TagAnswer, errors=(404,))
    def get(self, request: Request, tag_id: str) -> TagAnswer:
        return TagAnswer.of(selectors.get_tag(actor=self.actor, tag_id=tag_id))

    @operation(
        "update_tag", "Change a tag", tag="Tags", answer=TagAnswer, body=TagBody, errors=(400, 404), example=EXAMPLE
    )
    def put(self, request: Request, tag_id: str) -> TagAnswer:
        return TagAnswer.of(services.update_tag(actor=self.actor, tag_id=tag_id, **self.body(TagBody).model_dump()))
