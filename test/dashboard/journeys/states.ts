import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { makePerson } from "../../support/guarded-control.ts";
import { problemsOf } from "../support.ts";
import { settled, type Journey } from "./journey.ts";

/** What pages show while they wait and where something fails, and what other pages cannot do with the session. */
export function statesOfPages(journey: Journey): void {
  const { page, bench, owner, heading, press, focusOn } = journey;

  it("says that it is loading until the answer is there", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const isList = (url: URL) => url.pathname === "/v1/customers";
    await page().route(isList, async (route) => {
      await held;
      await route.continue();
    });
    await page().goto("/customers");
    await page().getByText("Loading …").waitFor();
    assert.equal(await page().getByRole("table").count(), 0);
    assert.deepEqual(await problemsOf(page()), []);
    release();
    await page().getByRole("table").waitFor();
    assert.equal(await page().getByText("Loading …").count(), 0);
    await page().unroute(isList);
  });

  it("says that nothing is reached, and tries again", async () => {
    await page().context().setOffline(true);
    await press("Name ⇅");
    await heading("The control plane cannot be reached");
    assert.deepEqual(await problemsOf(page()), []);
    // the list is gone, and the heading of the page takes the focus
    await focusOn("Customers");
    await page().context().setOffline(false);
    await press("Try again");
    await page().getByRole("table").waitFor();
  });

  it("says that the API has failed, and by which request it is found in the log", async () => {
    const { db } = bench().control.context;
    await db.schema.renameTable("policies", "policies_elsewhere");
    await page().goto("/policies");
    await heading("This did not work");
    const request = await page().getByRole("alert").locator("code").textContent();
    assert.match(request ?? "", /^req_/);
    assert.deepEqual(await problemsOf(page()), []);
    await db.schema.renameTable("policies_elsewhere", "policies");
    await press("Try again");
    await heading("No policies yet");
  });

  it("says what a role does not permit, and offers no other try", async () => {
    const viewer = await makePerson(bench().control, owner(), "viewer");
    const other = await bench().open("/keys");
    await bench().signIn(other, viewer.email);
    await other.getByRole("heading", { name: "Your role does not permit this" }).waitFor();
    await settled(other);
    assert.equal(await other.getByRole("button", { name: "Try again" }).count(), 0);
    assert.deepEqual(await problemsOf(other), []);
    await other.context().close();
  });

  it("refuses what pages of other origins send with its cookie", async () => {
    const { url, context } = bench().control;
    // another port is the same site, so that the browser sends the cookie along
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><title>other</title>
        <form method="post" enctype="text/plain" action="${url}/v1/customers"><input name='{"name":"Evil","x":"' value='"}'></form>
        <form method="post" action="${url}/v1/dashboard/logout"></form>`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const names = await context.db("customers").pluck<string[]>("name");
    for (const [index, path] of ["/v1/customers", "/v1/dashboard/logout"].entries()) {
      const outer = await page().context().newPage();
      await outer.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const [answer] = await Promise.all([
        outer.waitForResponse(url + path),
        outer.evaluate(`document.forms[${index}].submit()`),
      ]);
      assert.match((await answer.request().allHeaders())["cookie"] ?? "", /\S/);
      assert.ok([403, 415].includes(answer.status()), `${path}: ${answer.status()}`);
      await outer.close();
    }
    assert.deepEqual(await context.db("customers").pluck<string[]>("name"), names);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await page().reload();
    await page().getByRole("button", { name: "Sign out" }).waitFor();
  });
}
