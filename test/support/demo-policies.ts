import { fileURLToPath } from "node:url";

/**
 * The policies of the demo, as tests know them. Those in `policies/` begin as the same files, and are there to be edited;
 * `check-delivered-policies.ts` compares them before anything is published.
 */
export const DEMO_POLICIES = fileURLToPath(new URL("../fixtures/demo-policies", import.meta.url));
