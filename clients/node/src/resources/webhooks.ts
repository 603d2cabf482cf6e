import type {
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
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Where events are delivered. `verifyWebhook` checks a delivery. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List webhooks. */
  list(query?: ListWebhooksQuery, options?: CallOptions): List<Webhook> {
    return new List(this.#transport, path`/webhooks`, query, options);
  }

  /** Register a webhook. */
  async create(body: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.#transport.data({ method: "POST", path: path`/webhooks`, body, options });
  }

  /** Read a webhook. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data({ method: "GET", path: path`/webhooks/${webhookId}`, options });
  }

  /** Update a webhook. Maps such as metadata are merged: `null` removes a name. */
  async update(webhookId: string, body: WebhookUpdate, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data({ method: "PATCH", path: path`/webhooks/${webhookId}`, body, options });
  }

  /** Update a webhook: maps such as metadata are replaced, not merged. */
  async put(webhookId: string, body: WebhookUpdate, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data({ method: "PUT", path: path`/webhooks/${webhookId}`, body, options });
  }

  /** Delete a webhook. */
  async delete(webhookId: string, options?: CallOptions): Promise<DeletedWebhook> {
    return this.#transport.data({ method: "DELETE", path: path`/webhooks/${webhookId}`, options });
  }

  /** Replace a webhook's secret. */
  async rotateSecret(
    webhookId: string,
    body: WebhookSecretRotation,
    options?: CallOptions,
  ): Promise<WebhookWithSecret> {
    return this.#transport.data({
      method: "POST",
      path: path`/webhooks/${webhookId}/rotate-secret`,
      body,
      options,
    });
  }

  /** Enable a disabled webhook. */
  async enable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data({ method: "POST", path: path`/webhooks/${webhookId}/enable`, options });
  }

  /** Send a test event. */
  async test(webhookId: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#transport.data({ method: "POST", path: path`/webhooks/${webhookId}/test`, options });
  }

  /** List the deliveries of a webhook. */
  listDeliveries(
    webhookId: string,
    query?: ListWebhookDeliveriesQuery,
    options?: CallOptions,
  ): List<WebhookDelivery> {
    return new List(this.#transport, path`/webhooks/${webhookId}/deliveries`, query, options);
  }

  /** Read a delivery with its payload. */
  async getDelivery(
    webhookId: string,
    deliveryId: string,
    options?: CallOptions,
  ): Promise<WebhookDeliveryWithPayload> {
    return this.#transport.data({
      method: "GET",
      path: path`/webhooks/${webhookId}/deliveries/${deliveryId}`,
      options,
    });
  }

  /** Send the event of a delivery again. */
  async redeliver(webhookId: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#transport.data({
      method: "POST",
      path: path`/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver`,
      options,
    });
  }
}
