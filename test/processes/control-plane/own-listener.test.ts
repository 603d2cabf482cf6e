import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { sendToItself } from "../../../src/control/platform/frame/own-requests.ts";
import { listenToItself, type OwnListener } from "../../../src/processes/control-plane/own-listener.ts";

describe("the listener for a control plane's requests to itself", () => {
  let listener: OwnListener;
  let seen: string[];
  let application: RequestListener | undefined;
  beforeEach(async () => {
    seen = [];
    application = (request, response) => {
      seen.push(String(request.headers["x-gatehouse-own-request"]));
      response.end("mine");
    };
    listener = await listenToItself(() => application);
  });
  afterEach(() => listener.close());

  it("passes them on, and answers everybody else with 404", async () => {
    const own = await sendToItself(fetch, `${listener.url}/idp`, {});
    assert.equal(await own.text(), "mine");
    // its answer has come: it is no longer under way
    for (const value of [...seen, "", "guessed"]) {
      const answer = await fetch(`${listener.url}/idp`, { headers: { "x-gatehouse-own-request": value } });
      assert.equal(answer.status, 404);
    }
    assert.equal((await fetch(`${listener.url}/idp`)).status, 404);
    assert.equal(seen.length, 1);
  });

  it("answers nobody before there is an application", async () => {
    application = undefined;
    assert.equal((await sendToItself(fetch, `${listener.url}/idp`, {})).status, 404);
  });
});
