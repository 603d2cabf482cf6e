/** WebSocket messages: what a plan permits of them. */
export { evaluateMessage, readMessage, type MessageCode, type MessageVerdict } from "./evaluate-message.ts";
