import type { Knex } from "knex";

/**
 * Removes changes that are more than a day old; a gateway that has not seen them gets the complete state. The newest stays,
 * because it is the position of all gateways that are up to date. The end of a session stays while its tokens are valid.
 */
export async function pruneGatewayChanges(db: Knex, now: Date): Promise<void> {
  await db.transaction(async (trx) => {
    // one instance at a time
    const feed = await trx("gateway_feed").forUpdate().first<{ pruned_through: number }>("pruned_through");
    const { old } = await trx("gateway_changes")
      .whereRaw("appended_at < now() - interval '1 day'")
      .whereRaw("seq < (select max(seq) from gateway_changes)")
      .max({ old: "seq" })
      .first<{ old: number | null }>();
    const through = Math.max(feed.pruned_through, old ?? 0);
    await trx("gateway_changes")
      .where("seq", "<=", through)
      .whereRaw("(until is null or until <= ?)", [now])
      .delete();
    await trx("gateway_feed").update({ pruned_through: through });
  });
}
