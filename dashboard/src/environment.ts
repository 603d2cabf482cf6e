import { messages } from "./messages/index.ts";

/** Which environment serves this page; the control plane writes it there. */
export const environment =
  document.documentElement.dataset["environment"] === "sandbox" ? "sandbox" : "production";
export const environmentName = messages.environments[environment];
