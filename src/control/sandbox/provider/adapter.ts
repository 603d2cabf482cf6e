import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import type { ControlContext } from "../../platform/context.ts";
import type { SealedColumns } from "../../platform/sealed-columns.ts";
import { findCustomer } from "../../tenancy/customers.ts";
import { callbackUrl } from "../../sign-in/authorize.ts";
import { ALGORITHM, clientSecretOf, type ProviderKeys } from "./keys.ts";

interface StateRow {
  readonly payload: string;
  readonly consumed_at: Date | null;
}

/** Keeps what the provider has to remember in the database, for every instance: ids as hashes, contents sealed. */
export function createAdapter(
  context: Pick<ControlContext, "db" | "box" | "clock" | "settings">,
  keys: ProviderKeys,
): AdapterFactory {
  return (model) => (model === "Client" ? clients(context, keys) : state(context, model));
}

/**
 * Each customer is a client, so that a code is of one customer and no browser can make it another's, and so that a logout
 * leads to that customer's return URLs and to no others.
 */
function clients(context: Pick<ControlContext, "db" | "settings">, keys: ProviderKeys): Adapter {
  return {
    ...nothing,
    async find(id) {
      const customer = await findCustomer(context.db, id);
      if (customer === undefined) return undefined;
      return {
        client_id: customer.id,
        client_name: customer.name,
        client_secret: clientSecretOf(keys, customer.id),
        redirect_uris: [callbackUrl(context)],
        post_logout_redirect_uris: customer.allowed_return_urls,
        grant_types: ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
        id_token_signed_response_alg: ALGORITHM,
        require_auth_time: true,
      };
    },
  };
}

/** Clients are customers, whom the provider neither makes nor changes. */
const nothing: Adapter = {
  find: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  upsert: () => Promise.reject(new Error("clients of the sandbox's provider are its customers")),
  consume: () => Promise.resolve(undefined),
  destroy: () => Promise.resolve(undefined),
  revokeByGrantId: () => Promise.resolve(undefined),
};

function state({ db, box, clock }: Pick<ControlContext, "db" | "box" | "clock">, model: string): Adapter {
  const rows = () => db("sandbox_provider_state").where({ model });
  const purpose = (hash: string) => purposeOf(model, hash);

  async function first(where: Readonly<Record<string, string>>): Promise<AdapterPayload | undefined> {
    const row = await rows()
      .where(where)
      .where((either) => void either.whereNull("expires_at").orWhere("expires_at", ">", new Date(clock())))
      .first<(StateRow & { id_hash: string }) | undefined>();
    if (row === undefined) return undefined;
    const payload = JSON.parse(box.open(row.payload, purpose(row.id_hash))) as AdapterPayload;
    return row.consumed_at === null ? payload : { ...payload, consumed: seconds(row.consumed_at.getTime()) };
  }

  return {
    find: (id) => first({ id_hash: hashOf(id) }),
    findByUid: (uid) => first({ uid }),
    findByUserCode: () => Promise.resolve(undefined),
    async upsert(id, payload, expiresIn) {
      const id_hash = hashOf(id);
      await db("sandbox_provider_state")
        .insert({
          model,
          id_hash,
          payload: box.seal(JSON.stringify(payload), purpose(id_hash)),
          grant_id: payload.grantId ?? null,
          uid: payload.uid ?? null,
          // written by the library, by its own clock: it looks at the exact time itself
          expires_at: expiresIn ? new Date(clock() + expiresIn * 1000) : null,
        })
        .onConflict(["model", "id_hash"])
        .merge(["payload", "grant_id", "uid", "expires_at"]);
    },
    async consume(id) {
      await rows()
        .where({ id_hash: hashOf(id) })
        .update({ consumed_at: new Date(clock()) });
    },
    async destroy(id) {
      await rows()
        .where({ id_hash: hashOf(id) })
        .delete();
    },
    async revokeByGrantId(grant_id) {
      await rows().where({ grant_id }).delete();
    },
  };
}

/** Codes, tokens and cookies of the provider. */
export const SEALED_PROVIDER_STATE: SealedColumns = {
  table: "sandbox_provider_state",
  key: ["model", "id_hash"],
  columns: ["payload"],
  purpose: ({ model = "", id_hash = "" }) => purposeOf(model, id_hash),
};

function purposeOf(model: string, hash: string): string {
  return `sandbox.provider.state:${model}:${hash}`;
}

/** Removes expired entries. */
export async function forgetExpiredState(db: Knex, now: Date): Promise<void> {
  await db("sandbox_provider_state").where("expires_at", "<=", now).delete();
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

function seconds(at: number): number {
  return Math.floor(at / 1000);
}
