import type { Knex } from "knex";

/** The channel on which commits are announced; a notification only says that there may be a change. */
export const CHANNEL = "gatehouse_gateway_changes";

/** The payload of a notification that makes gateways ask again, whether there is a change or not. */
export const ASK_AGAIN = "ask again";

/**
 * Makes every gateway ask again as soon as the transaction has committed. A key revoked in it is then refused at once,
 * and not only when the gateway's long poll ends. If nobody listens at that moment, waiting requests find the change by
 * polling (control/gateway/change-signal.ts).
 */
export async function haveGatewaysAskAgain(trx: Knex): Promise<void> {
  await trx.raw("select pg_notify(?, ?)", [CHANNEL, ASK_AGAIN]);
}
