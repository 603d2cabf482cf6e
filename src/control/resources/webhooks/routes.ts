import type { ControlContext } from "../../platform/context.ts";
import { readPage } from "../../platform/frame/list.ts";
import { created, etagOf, ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { withPatch } from "../../platform/frame/merge-patch.ts";
import { checkTarget } from "../../platform/outbound/target.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import {
  deletedWebhook,
  newWebhook,
  rotation,
  webhook,
  webhookChanges,
  webhookList,
  webhookPath,
  webhookWithSecret,
} from "./schemas.ts";
import { secretWarnings } from "./secret.ts";
import { changeWebhook, createWebhook, enableWebhook, removeWebhook, rotateSecret } from "./service.ts";
import { readWebhook, visibleWebhooks, type WebhookRow } from "./store.ts";

/** `/webhooks`: receivers of events, and the deliveries to them. */
export function webhookRoutes(context: ControlContext): Route[] {
  return [
    ...collection(context),
    ...single(context),
    ...secretAndSwitch(context),
    ...deliveryRoutes(context),
  ];
}

const ABOUT = { tag: "Webhooks", group: "management", tenancy: "handler" } as const;

function collection({ db, box, settings }: ControlContext): Route[] {
  return [
    readRoute({
      ...ABOUT,
      method: "get",
      path: "/webhooks",
      operation: "listWebhooks",
      summary: "List webhooks",
      permission: "read",
      query: webhookList,
      answers: { 200: webhook.array() },
      paginated: true,
      async read({ query, actor }) {
        const { status, customer_id } = query;
        const rows = visibleWebhooks(db, actor);
        if (status !== undefined) void rows.where("enabled", status === "enabled");
        if (customer_id !== undefined) void rows.where("customer_id", customer_id);
        const columns = { id: "id", created_at: "created_at", updated_at: "updated_at" };
        const found = await readPage<WebhookRow>(rows, query, columns);
        return page(found.rows, { ...query, total: found.total });
      },
    }),
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/webhooks",
      operation: "createWebhook",
      summary: "Register a webhook",
      description:
        "Events are sent to `url` from now on, signed according to Standard Webhooks. " +
        "If `secret` is omitted, one is generated; only this response shows it.",
      permission: "configure",
      body: newWebhook,
      answers: { 201: webhookWithSecret },
      warns: true,
      etag: true,
      errors: ["TARGET_NOT_ALLOWED", "INVALID_CUSTOMER", "CONFLICT"],
      prepare: ({ body }) => checkTarget(body.url, targets(settings)),
      async write({ body }, unit) {
        const { row, secret } = await createWebhook(unit, box, body);
        return created(
          { ...row, secret },
          { etag: etagOf(row), location: `/v1/webhooks/${row.id}`, warnings: secretWarnings(secret) },
        );
      },
    }),
  ];
}

function single({ db, settings }: ControlContext): Route[] {
  const about = { ...ABOUT, path: "/webhooks/{id}", params: webhookPath, etag: true } as const;
  return [
    readRoute({
      ...about,
      method: "get",
      operation: "getWebhook",
      summary: "Read a webhook",
      permission: "read",
      answers: { 200: webhook },
      errors: ["WEBHOOK_NOT_FOUND"],
      async read({ params, actor }) {
        return answered(await readWebhook(db, actor, params.id));
      },
    }),
    ...withPatch(
      writeRoute({
        ...about,
        method: "put",
        operation: "updateWebhook",
        summary: "Update a webhook",
        description:
          "Only given members change. A disabled webhook gets no events, and its pending deliveries are cancelled. " +
          "Pending deliveries go to the new URL.",
        permission: "configure",
        body: webhookChanges,
        answers: { 200: webhook },
        errors: ["WEBHOOK_NOT_FOUND", "TARGET_NOT_ALLOWED", "CONFLICT"],
        async prepare({ params, body, actor }) {
          // a caller that must not see it must not learn whether a URL is reachable either
          await readWebhook(db, actor, params.id);
          if (body.url !== undefined) await checkTarget(body.url, targets(settings));
        },
        async write(call, unit) {
          const row = await changeWebhook(unit, call.params.id, call.body, (before) => {
            call.ifMatch(etagOf(before));
          });
          return answered(row);
        },
      }),
    ),
    writeRoute({
      ...about,
      method: "delete",
      operation: "deleteWebhook",
      summary: "Delete a webhook",
      description: "Its pending deliveries are cancelled.",
      permission: "configure",
      answers: { 200: deletedWebhook },
      errors: ["WEBHOOK_NOT_FOUND"],
      async write(call, unit) {
        const { id } = call.params;
        await removeWebhook(unit, id, (before) => {
          call.ifMatch(etagOf(before));
        });
        return ok({ id, deleted: true });
      },
    }),
  ];
}

function secretAndSwitch({ box }: ControlContext): Route[] {
  return [
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/webhooks/{id}/rotate-secret",
      operation: "rotateWebhookSecret",
      summary: "Replace a webhook's secret",
      description:
        "Until `previous_secret_expires_at`, deliveries have a signature with each of the two secrets. " +
        "If `secret` is omitted, one is generated; only this response shows it.",
      permission: "configure",
      params: webhookPath,
      body: rotation,
      answers: { 200: webhookWithSecret },
      warns: true,
      etag: true,
      errors: ["WEBHOOK_NOT_FOUND"],
      async write({ params, body }, unit) {
        const { row, secret } = await rotateSecret(unit, box, params.id, body);
        return ok({ ...row, secret }, { etag: etagOf(row), warnings: secretWarnings(secret) });
      },
    }),
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/webhooks/{id}/enable",
      operation: "enableWebhook",
      summary: "Enable a disabled webhook",
      description:
        "It gets events from now on; those in between are not sent later. " +
        "A webhook of a deleted customer stays disabled.",
      permission: "configure",
      params: webhookPath,
      answers: { 200: webhook },
      etag: true,
      errors: ["WEBHOOK_NOT_FOUND", "CONFLICT"],
      async write({ params }, unit) {
        return answered(await enableWebhook(unit, params.id));
      },
    }),
  ];
}

function answered(row: WebhookRow) {
  return ok(row, { etag: etagOf(row) });
}

function targets({ webhooks }: ControlContext["settings"]) {
  return { allowPrivate: webhooks.allowPrivateTargets };
}
