/** Small tools for text that people read. Imports nothing. */
export { clip } from "./clip.ts";
export { counted } from "./count.ts";
export { errorMessage } from "./error-message.ts";
export { escapeHtml } from "./escape-html.ts";
export { HIDDEN } from "./hidden.ts";
export { nearestHint, nearestName } from "./nearest-name.ts";
export { inBackticks, quoted, quotedAscii } from "./quote.ts";
export { MAX_READINGS, readingsOf, type Reading, type Readings } from "./readings.ts";
export { redactTarget } from "./redact-target.ts";
export { isSensitiveName, sanitize, sanitizeValue } from "./sanitize.ts";
export { decodeUtf8, type DecodedText } from "./utf8.ts";
export { spellOut, UNPRINTABLE, visible } from "./visible.ts";
