/** JSON documents, masked at the spans that a plan names. */
export { parseDocument, seenValue, type SeenValue } from "./document.ts";
export { isResult } from "./graphql-result.ts";
export { mediaKind, otherKind, type OtherKind } from "./media-type.ts";
export { maskDocument, type MaskedResponse, type MaskResult } from "./mask-document.ts";
export { fitsKind } from "./other-types.ts";

export { STRICTNESS } from "./actions.ts";
