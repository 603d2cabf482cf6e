# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import Pager
from ..transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        DeletedWebhook,
        ListWebhookDeliveriesQuery,
        ListWebhooksQuery,
        NewWebhook,
        Webhook,
        WebhookDelivery,
        WebhookDeliveryWithPayload,
        WebhookSecretRotation,
        WebhookUpdate,
        WebhookWithSecret,
    )


class Webhooks:
    """Where events are delivered. `verify_webhook` checks a delivery."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListWebhooksQuery] = None, **options: Unpack[CallOptions]) -> Pager[Webhook]:
        """List webhooks."""
        return Pager(self._transport, path("/webhooks"), query, options)

    def create(self, body: NewWebhook, **options: Unpack[CallOptions]) -> WebhookWithSecret:
        """Register a webhook."""
        answer: WebhookWithSecret = self._transport.data("POST", path("/webhooks"), body=body, options=options)
        return answer

    def get(self, webhook_id: str, **options: Unpack[CallOptions]) -> Webhook:
        """Read a webhook."""
        answer: Webhook = self._transport.data("GET", path("/webhooks/{}", webhook_id), options=options)
        return answer

    def update(self, webhook_id: str, body: WebhookUpdate, **options: Unpack[CallOptions]) -> Webhook:
        """Update a webhook. Maps such as metadata are merged: `None` removes a name."""
        answer: Webhook = self._transport.data("PATCH", path("/webhooks/{}", webhook_id), body=body, options=options)
        return answer

    def put(self, webhook_id: str, body: WebhookUpdate, **options: Unpack[CallOptions]) -> Webhook:
        """Update a webhook: maps such as metadata are replaced, not merged."""
        answer: Webhook = self._transport.data("PUT", path("/webhooks/{}", webhook_id), body=body, options=options)
        return answer

    def delete(self, webhook_id: str, **options: Unpack[CallOptions]) -> DeletedWebhook:
        """Delete a webhook."""
        answer: DeletedWebhook = self._transport.data("DELETE", path("/webhooks/{}", webhook_id), options=options)
        return answer

    def rotate_secret(self, webhook_id: str, body: WebhookSecretRotation, **options: Unpack[CallOptions]) -> WebhookWithSecret:
        """Replace a webhook's secret."""
        answer: WebhookWithSecret = self._transport.data("POST", path("/webhooks/{}/rotate-secret", webhook_id), body=body, options=options)
        return answer

    def enable(self, webhook_id: str, **options: Unpack[CallOptions]) -> Webhook:
        """Enable a disabled webhook."""
        answer: Webhook = self._transport.data("POST", path("/webhooks/{}/enable", webhook_id), options=options)
        return answer

    def test(self, webhook_id: str, **options: Unpack[CallOptions]) -> WebhookDelivery:
        """Send a test event."""
        answer: WebhookDelivery = self._transport.data("POST", path("/webhooks/{}/test", webhook_id), options=options)
        return answer

    def list_deliveries(self, webhook_id: str, query: Optional[ListWebhookDeliveriesQuery] = None, **options: Unpack[CallOptions]) -> Pager[WebhookDelivery]:
        """List the deliveries of a webhook."""
        return Pager(self._transport, path("/webhooks/{}/deliveries", webhook_id), query, options)

    def get_delivery(self, webhook_id: str, delivery_id: str, **options: Unpack[CallOptions]) -> WebhookDeliveryWithPayload:
        """Read a delivery with its payload."""
        answer: WebhookDeliveryWithPayload = self._transport.data("GET", path("/webhooks/{}/deliveries/{}", webhook_id, delivery_id), options=options)
        return answer

    def redeliver(self, webhook_id: str, delivery_id: str, **options: Unpack[CallOptions]) -> WebhookDelivery:
        """Send the event of a delivery again."""
        answer: WebhookDelivery = self._transport.data("POST", path("/webhooks/{}/deliveries/{}/redeliver", webhook_id, delivery_id), options=options)
        return answer
