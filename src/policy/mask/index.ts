/** JSON documents, strictly read, and masked at the spans that a plan names. */
export { mediaKind, otherKind, type OtherKind } from "./media-type.ts";
export { maskDocument, type MaskedResponse, type MaskResult } from "./mask-document.ts";
export { fitsKind } from "./other-types.ts";
export {
  parseJson,
  seenValue,
  type JsonMember,
  type JsonNode,
  type JsonReason,
  type JsonResult,
  type SeenValue,
} from "./json-tree.ts";
