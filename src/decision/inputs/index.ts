/** What records keep of the values that rules read. */
export { createInputHash, type InputHash } from "./input-hash.ts";
export { createInputProtection, type InputProtection } from "./input-protection.ts";
export { recordInputs } from "./record-inputs.ts";
