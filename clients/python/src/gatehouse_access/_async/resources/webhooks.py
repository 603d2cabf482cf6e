from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

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


class AsyncWebhooks:
    """Where events are delivered. `verify_webhook` checks a delivery."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListWebhooksQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Webhook]:
        """List webhooks."""
        return AsyncPager(self._transport, path("/webhooks"), query, options)

    async def create(self, body: NewWebhook, **options: Unpack[CallOptions]) -> WebhookWithSecret:
        """Register a webhook."""
        answer: WebhookWithSecret = await self._transport.data("POST", path("/webhooks"), body=body, options=options)
        return answer

    async def get(self, webhook_id: str, **options: Unpack[CallOptions]) -> Webhook:
        """Read a webhook."""
        answer: Webhook = await self._transport.data("GET", path("/webhooks/{}", webhook_id), options=options)
        return answer

    async def update(self, webhook_id: str, body: WebhookUpdate, **options: Unpack[CallOptions]) -> Webhook:
        """Update a webhook. Maps such as metadata are merged: `None` removes a name."""
        answer: Webhook = await self._transport.data("PATCH", path("/webhooks/{}", webhook_id), body=body, options=options)
        return answer

    async def put(self, webhook_id: str, body: WebhookUpdate, **options: Unpack[CallOptions]) -> Webhook:
        """Update a webhook: maps such as metadata are replaced, not merged."""
        answer: Webhook = await self._transport.data("PUT", path("/webhooks/{}", webhook_id), body=body, options=options)
        return answer

    async def delete(self, webhook_id: str, **options: Unpack[CallOptions]) -> DeletedWebhook:
        """Delete a webhook."""
        answer: DeletedWebhook = await self._transport.data("DELETE", path("/webhooks/{}", webhook_id), options=options)
        return answer

    async def rotate_secret(self, webhook_id: str, body: WebhookSecretRotation, **options: Unpack[CallOptions]) -> WebhookWithSecret:
        """Replace a webhook's secret."""
        answer: WebhookWithSecret = await self._transport.data("POST", path("/webhooks/{}/rotate-secret", webhook_id), body=body, options=options)
        return answer

    async def enable(self, webhook_id: str, **options: Unpack[CallOptions]) -> Webhook:
        """Enable a disabled webhook."""
        answer: Webhook = await self._transport.data("POST", path("/webhooks/{}/enable", webhook_id), options=options)
        return answer

    async def test(self, webhook_id: str, **options: Unpack[CallOptions]) -> WebhookDelivery:
        """Send a test event."""
        answer: WebhookDelivery = await self._transport.data("POST", path("/webhooks/{}/test", webhook_id), options=options)
        return answer

    def list_deliveries(self, webhook_id: str, query: Optional[ListWebhookDeliveriesQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[WebhookDelivery]:
        """List the deliveries of a webhook."""
        return AsyncPager(self._transport, path("/webhooks/{}/deliveries", webhook_id), query, options)

    async def get_delivery(self, webhook_id: str, delivery_id: str, **options: Unpack[CallOptions]) -> WebhookDeliveryWithPayload:
        """Read a delivery with its payload."""
        answer: WebhookDeliveryWithPayload = await self._transport.data("GET", path("/webhooks/{}/deliveries/{}", webhook_id, delivery_id), options=options)
        return answer

    async def redeliver(self, webhook_id: str, delivery_id: str, **options: Unpack[CallOptions]) -> WebhookDelivery:
        """Send the event of a delivery again."""
        answer: WebhookDelivery = await self._transport.data("POST", path("/webhooks/{}/deliveries/{}/redeliver", webhook_id, delivery_id), options=options)
        return answer
