"""Webhooks over JSON: the list, one, a test, and the log of deliveries."""

from rest_framework.request import Request

from core.api.bodies import Message, Paging
from core.api.operations import operation
from core.ids import show_id
from organizations.api.doors import OrganizationView
from webhooks import selectors, services
from webhooks.api.bodies import (
    DeliveriesAnswer,
    DeliveriesQuery,
    DeliveryAnswer,
    DeliveryDetail,
    NewWebhookBody,
    QueuedAnswer,
    WebhookAnswer,
    WebhookBody,
    WebhooksAnswer,
)

EXAMPLE = {
    "name": "Bookkeeping",
    "url": "https://example.com/docrouter",
    "events": ["document.uploaded", "llm.completed"],
}
OFF = {"enabled": False}
QUEUED = {"status": "enqueued", "delivery_id": "019a8f0e6b7c7d10a1b2c3d4e5f60718"}


class WebhooksView(OrganizationView):
    """The organization's webhooks."""

    @operation("list_webhooks", "List the webhooks", tag="Webhooks", answer=WebhooksAnswer, query=Paging)
    def get(self, request: Request) -> WebhooksAnswer:
        found = selectors.list_webhooks(actor=self.actor, **self.query(Paging).model_dump())
        rows = [WebhookAnswer.of(webhook, actor=self.actor) for webhook in found.rows]
        return WebhooksAnswer(webhooks=rows, total_count=found.total_count, skip=found.skip)

    @operation(
        "create_webhook",
        "Make a webhook; the answer has its secret, this once",
        tag="Webhooks",
        answer=WebhookAnswer,
        body=NewWebhookBody,
        errors=(400,),
        example=EXAMPLE,
    )
    def post(self, request: Request) -> WebhookAnswer:
        webhook, secret = services.create_webhook(actor=self.actor, changes=self.body(NewWebhookBody).changes())
        return WebhookAnswer.of(webhook, actor=self.actor, generated_secret=secret)


class WebhookView(OrganizationView):
    """One webhook."""

    @operation("get_webhook", "Read a webhook", tag="Webhooks", answer=WebhookAnswer, errors=(404,))
    def get(self, request: Request, webhook_id: str) -> WebhookAnswer:
        webhook = selectors.get_webhook(actor=self.actor, webhook_id=webhook_id)
        return WebhookAnswer.of(webhook, actor=self.actor)

    @operation(
        "update_webhook",
        "Change a webhook; an empty secret makes a new one",
        tag="Webhooks",
        answer=WebhookAnswer,
        body=WebhookBody,
        errors=(400, 404),
        example=OFF,
    )
    def put(self, request: Request, webhook_id: str) -> WebhookAnswer:
        changes = self.body(WebhookBody).changes()
        webhook, secret = services.update_webhook(actor=self.actor, webhook_id=webhook_id, changes=changes)
        return WebhookAnswer.of(webhook, actor=self.actor, generated_secret=secret)

    @operation("delete_webhook", "Delete a webhook", tag="Webhooks", answer=Message, errors=(404,))
    def delete(self, request: Request, webhook_id: str) -> Message:
        services.delete_webhook(actor=self.actor, webhook_id=webhook_id)
        return Message(message="Webhook deleted successfully")


class WebhookTestView(OrganizationView):
    """A test of one webhook."""

    @operation(
        "test_webhook",
        "Send a test",
        tag="Webhooks",
        answer=QueuedAnswer,
        errors=(400, 404),
        answer_example=QUEUED,
    )
    def post(self, request: Request, webhook_id: str) -> QueuedAnswer:
        delivery = services.send_test(actor=self.actor, webhook_id=webhook_id)
        return QueuedAnswer(delivery_id=show_id(delivery.pk))


class DeliveriesView(OrganizationView):
    """What was sent, newest first."""

    @operation(
        "list_webhook_deliveries",
        "List deliveries",
        tag="Webhooks",
        answer=DeliveriesAnswer,
        query=DeliveriesQuery,
        errors=(404,),
    )
    def get(self, request: Request) -> DeliveriesAnswer:
        query = self.query(DeliveriesQuery)
        found = selectors.list_deliveries(
            actor=self.actor,
            webhook_id=query.webhook_id,
            status=query.status,
            event=query.event_type,
            skip=query.skip,
            limit=query.limit,
        )
        rows = [DeliveryAnswer.of(delivery) for delivery in found.rows]
        return DeliveriesAnswer(deliveries=rows, total_count=found.total_count, skip=found.skip)


class DeliveryView(OrganizationView):
    """One delivery."""

    @operation("get_webhook_delivery", "Read a delivery", tag="Webhooks", answer=DeliveryDetail, errors=(404,))
    def get(self, request: Request, delivery_id: str) -> DeliveryDetail:
        delivery = selectors.get_delivery(actor=self.actor, delivery_id=delivery_id)
        return DeliveryDetail.shown_to(self.actor, delivery)


class DeliveryRetryView(OrganizationView):
    """One delivery once more."""

    @operation(
        "retry_webhook_delivery",
        "Send a delivery once more, as a new one",
        tag="Webhooks",
        answer=QueuedAnswer,
        errors=(400, 404),
        answer_example=QUEUED,
    )
    def post(self, request: Request, delivery_id: str) -> QueuedAnswer:
        delivery = services.retry_delivery(actor=self.actor, delivery_id=delivery_id)
        return QueuedAnswer(delivery_id=show_id(delivery.pk))
