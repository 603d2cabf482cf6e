import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { buildDashboard } from "../../../dashboard/build.ts";
import { startBrowser } from "../../clients/support/browser.ts";

/** A browser for the parts of a journey: starting it takes longer than most of them. */
export function browserOfJourneys(): () => Browser {
  let browser: Browser | undefined;
  before(async () => {
    await buildDashboard();
    browser = await startBrowser();
  });
  after(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error("it is not started yet");
    return browser;
  };
}

/** Parts need what those before them have made: after a failure, the rest would only wait. */
export function stopsAfterFailure(): void {
  let failed = false;
  beforeEach(() => {
    assert.equal(failed, false, "an earlier part of the journey has failed");
  });
  afterEach(function () {
    failed ||= this.currentTest?.isFailed() === true;
  });
}
