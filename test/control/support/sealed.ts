import assert from "node:assert/strict";
import { sealClientSecret } from "../../../src/control/tenancy/idp.ts";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { createAdapter } from "../../../src/control/sandbox/provider/adapter.ts";
import { providerKeys } from "../../../src/control/sandbox/provider/keys.ts";
import { idTokenPurpose } from "../../../src/control/sign-in/sealed-id-tokens.ts";
import { flowSecretsPurpose } from "../../../src/control/sign-in/flow-store.ts";
import type { Database } from "../../../src/storage/index.ts";
import type { RunningControl } from "../../support/control.ts";
import { newCustomer, register } from "./webhooks.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const LATER = new Date("2126-03-01T12:00:00Z");

/** Something sealed in every table that has such values: some `count` times, for what there are several of. */
export async function sealEverywhere(control: RunningControl, count = 1): Promise<void> {
  const { context } = control;
  const { db, box } = context;
  await createKeyring(context).signingKey();
  const keys = await providerKeys(context);
  const customer_id = await newCustomer(control, `Sealed by ${box.keyIds[0]}`);
  await db("customer_idps").insert({
    customer_id,
    type: "oidc",
    domain: "idp.example",
    issuer: "https://idp.example",
    client_id: "client",
    client_secret: sealClientSecret(box, customer_id, "client secret"),
    scopes: ["openid"],
    claims: "{}",
    revision: 1,
    created_at: NOW,
    updated_at: NOW,
  });
  const user_id = `usr ${customer_id}`;
  await db("users").insert({
    id: user_id,
    customer_id,
    subject: "ada",
    status: "active",
    profile: "{}",
    attributes: "{}",
    created_at: NOW,
    updated_at: NOW,
  });
  for (let n = 0; n < count; n += 1) {
    const id = `${n} ${customer_id}`;
    const about = { id, customer_id, client_id: "key", scope: "openid", created_at: NOW, expires_at: LATER };
    await db("sign_in_flows").insert({
      ...about,
      state_hash: `state ${id}`,
      return_url: "https://app.example",
      issuer: "https://idp.example",
      idp_client_id: "client",
      secrets: box.seal("{}", flowSecretsPurpose(id)),
    });
    await db("sessions").insert({
      ...about,
      user_id,
      id_token: n % 2 === 0 ? box.seal("id token", idTokenPurpose(id)) : null,
      amr: "[]",
      ip_address: "192.0.2.1",
      user_agent: "test",
      last_used_at: NOW,
      alive_until: LATER,
    });
    const adapter = createAdapter(context, keys)("Session");
    await adapter.upsert(id, { kind: "Session" }, 3_600);
  }
  const { id } = await register(control, { customer_id });
  const rotated = await control.request("POST", `/webhooks/${id}/rotate-secret`, {
    body: { overlap_seconds: 3_600 },
    headers: { "idempotency-key": `rotate-${customer_id}` },
  });
  assert.equal(rotated.status, 200, rotated.text);
}

/**
 * Everything in the database that looks sealed, wherever it stands: not by the list of columns that the product has.
 *
 * @returns how many by the id of their key, `""` where they name none
 */
export async function sealedByKey(db: Database): Promise<Readonly<Record<string, number>>> {
  const { rows } = await db.raw<{ rows: { table_name: string; column_name: string }[] }>(
    `select c.table_name, c.column_name from information_schema.columns c join information_schema.tables t
       using (table_schema, table_name)
     where table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.data_type in ('text', 'jsonb')
       and not (c.table_name = 'encryption_keys')`,
  );
  const counts: Record<string, number> = {};
  for (const { table_name, column_name } of rows) {
    const found = await db.raw<{ rows: { key: string; count: number }[] }>(
      `select coalesce(substring(??::text from '^"{0,1}v1[.][A-Za-z0-9_-]{60,}[.]([0-9a-f]{16})"{0,1}$'), '') as key, count(*)::int as count
       from ?? where ??::text ~ '^"{0,1}v1[.][A-Za-z0-9_-]{60,}' group by 1`,
      [column_name, table_name, column_name],
    );
    for (const { key, count } of found.rows) counts[key] = (counts[key] ?? 0) + count;
  }
  return counts;
}
