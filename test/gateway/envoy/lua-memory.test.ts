import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LUA_DIRECTORY } from "../../../src/gateway/lua-bundle.ts";
import { send } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";

describe("gateway: the memory of Lua", () => {
  let gateway: TestGateway;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-lua-"));
    await cp(LUA_DIRECTORY, directory, { recursive: true });
    // a filter that tells how much is held
    const path = join(directory, "answers.lua");
    const text = await readFile(path, "utf8");
    const telling = text.replace(
      "function envoy_on_response(handle)",
      `$& collectgarbage() handle:headers():add("x-lua-kib", tostring(collectgarbage("count")))`,
    );
    assert.notEqual(telling, text);
    await writeFile(path, telling);
    gateway = await startGateway({ luaDirectory: directory });
  });
  after(async () => {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it("does not grow with the number of different plans", async () => {
    gateway.upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"ssn":1}');
    };
    let serial = 0;
    gateway.authz.decide = () => {
      serial += 1;
      const fields = Array.from({ length: 500 }, (_, index) => field(`name-${serial}-${index}`));
      return planned(responsePlan(field("ssn"), ...fields));
    };
    const held: number[] = [];
    for (let count = 0; count < 120; count += 1) {
      const { body, headers } = await send(gateway.port, "/");
      assert.equal(body, '{"ssn":"***"}');
      held.push(Number(headers["x-lua-kib"]));
    }
    assert.ok(Math.max(...held) < 24 * 1024, held.map(Math.round).join(" "));
  });
});
