import { SEALED_IDP } from "./tenancy/idp.ts";
import { SEALED_ANSWERS } from "./platform/frame/idempotency.ts";
import { SEALED_SIGNING_KEYS } from "./sign-in/issuer/key-store.ts";
import { SEALED_PROVIDER_KEYS } from "./sandbox/provider/keys.ts";
import { SEALED_PROVIDER_STATE } from "./sandbox/provider/adapter.ts";
import { SEALED_ID_TOKENS } from "./sign-in/sealed-id-tokens.ts";
import { SEALED_FLOWS } from "./sign-in/flow-store.ts";
import { SEALED_WEBHOOKS } from "./resources/webhooks/service.ts";
import type { SealedColumns } from "./platform/sealed-columns.ts";

/**
 * Everything that is stored encrypted, one resource per line; values that are kept permanently come first. A column
 * that is missing here would keep its key during a rotation: a test compares the list with the columns whose comment
 * says `sealed`.
 */
export const SEALED_COLUMNS: readonly SealedColumns[] = [
  SEALED_SIGNING_KEYS,
  SEALED_PROVIDER_KEYS,
  SEALED_IDP,
  SEALED_WEBHOOKS,
  SEALED_ID_TOKENS,
  SEALED_FLOWS,
  SEALED_ANSWERS,
  SEALED_PROVIDER_STATE,
];
