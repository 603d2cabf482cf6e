/** WebSocket messages: what a plan permits of them. */
export { judgeMessage, readMessage, type MessageCode, type MessageVerdict } from "./judge-message.ts";
