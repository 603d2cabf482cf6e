import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { clientIpOf, trustProxies } from "../../../../src/control/platform/frame/client-address.ts";

describe("a client of the API", () => {
  it("is known by its address, however a trusted proxy writes it", async () => {
    const application = express();
    trustProxies(application, ["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"]);
    application.get("/", (request, response) => response.send(clientIpOf(request)));
    const server = createServer(application);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const addresses: readonly (readonly [sent: string, counts: string])[] = [
      ["203.0.113.5", "203.0.113.5"],
      ["203.0.113.5:1000", "203.0.113.5"],
      ["::ffff:203.0.113.5", "203.0.113.5"],
      ["[::ffff:203.0.113.5]:443", "203.0.113.5"],
      ["2001:db8::1", "2001:db8::1"],
      ["[2001:db8::1]", "2001:db8::1"],
      ["[2001:db8::1]:443", "2001:db8::1"],
      // what comes before an untrusted address is that client's own invention
      ["198.51.100.1, 203.0.113.5:1000", "203.0.113.5"],
      ["203.0.113.5:1000, 10.0.0.2:443, [2001:db8:1::2]:80", "203.0.113.5"],
      // not an address: the proxy that says so
      ["unknown", "127.0.0.1"],
      ["", "127.0.0.1"],
      ["203.0.113.5:1000:2", "127.0.0.1"],
      ["[203.0.113.5", "127.0.0.1"],
      ["999.0.113.5:1000", "127.0.0.1"],
      ["203.0.113.5, unknown", "127.0.0.1"],
      ["_hidden, 10.0.0.2:443", "10.0.0.2"],
    ];
    try {
      const { port } = server.address() as AddressInfo;
      for (const [sent, counts] of addresses) {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { "x-forwarded-for": sent } });
        assert.equal(await answer.text(), counts, sent);
      }
      trustProxies(application, []);
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        headers: { "x-forwarded-for": "203.0.113.5" },
      });
      assert.equal(await answer.text(), "127.0.0.1");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
