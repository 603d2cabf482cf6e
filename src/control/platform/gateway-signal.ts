import type { Knex } from "knex";

/** The channel that announces commits. A notification only says that there is a change. */
export const CHANNEL = "gatehouse_gateway_changes";

/** Payload of a notification that makes gateways ask again, whether there is a change or not. */
export const ASK_AGAIN = "ask again";

/**
 * Makes every gateway ask again as soon as the transaction has committed. A key revoked in it is then refused at once,
 * not only when the gateway's long poll ends. If nobody is listening at that moment, waiting requests notice by polling
 * (control/gateway/change-signal.ts).
 */
export async function haveGatewaysAskAgain(trx: Knex): Promise<void> {
  await trx.raw("select pg_notify(?, ?)", [CHANNEL, ASK_AGAIN]);
}
