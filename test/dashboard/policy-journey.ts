import type { Locator, Page } from "playwright-core";
import type { Answered } from "../support/control.ts";
import type { DashboardBench } from "./support.ts";

export const MARKUP = `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`;
/** The policy set that the journeys write, and that the gateway enforces. */
export const SET = "edge";

/** One way through the pages of policies, whose parts share a control plane, a browser and a gateway. */
export interface Journey {
  readonly page: () => Page;
  readonly bench: () => DashboardBench;
  /** The id of the customer Acme. */
  readonly customer: () => string;
  /** Asks the API as the owner does, beside the page. */
  readonly api: (method: string, path: string, body?: object) => Promise<Answered>;
  readonly button: (name: string) => Locator;
  readonly dialog: () => Locator;
  readonly inDialog: (name: string) => Locator;
  readonly heading: (name: string) => Promise<void>;
  readonly said: (text: string) => Promise<void>;
  readonly tab: (name: string) => Promise<void>;
  /** The active version of the set. */
  readonly active: () => Promise<string>;
  /** Waits until the gateway answers with a status. */
  readonly answers: (path: string, status: number, headers?: Record<string, string>) => Promise<void>;
}
