import type { Knex } from "knex";

/** Where commits are announced; a notification says no more than that there is something. */
export const CHANNEL = "gatehouse_gateway_changes";

/** What a notification says where gateways are to ask again, whether there is a change or not. */
export const ASK_AGAIN = "ask again";

/**
 * Has every gateway ask again as soon as the transaction has committed. A key that is revoked in it is then refused at once,
 * and not when the gateway's question has waited for its time. Where nobody listens at that moment, whoever waits finds out
 * by looking (control/gateway/change-signal.ts).
 */
export async function haveGatewaysAskAgain(trx: Knex): Promise<void> {
  await trx.raw("select pg_notify(?, ?)", [CHANNEL, ASK_AGAIN]);
}
