import type { Knex } from "knex";
import type { Actor } from "./actor.ts";

/** An actor as stored with what it did: its kind, its id, and its name if it has one. */
export interface NamedActor {
  readonly kind: Actor["kind"];
  readonly id: string;
  readonly name?: string;
}

/**
 * Adds the actor's name to what a transaction writes. The name of a dashboard user is read here, and the user cannot be
 * deleted until the transaction ends: a name read earlier could be written after everything else about the user was
 * erased.
 */
export async function namedActor(trx: Knex.Transaction, actor: Actor): Promise<NamedActor> {
  const { kind, id } = actor;
  if (kind === "anonymous") return { kind, id };
  if (kind !== "dashboard_user") return { kind, id, name: actor.name };
  const user = await trx("dashboard_users")
    .where({ id })
    .forKeyShare()
    .first<{ name: string } | undefined>("name");
  return { kind, id, ...(user && { name: user.name }) };
}
