import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket, WebSocketServer } from "ws";
import { LUA_DIRECTORY } from "../../../src/gateway/lua-bundle.ts";
import { get, send, sendRaw } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";
import { openState } from "../support/state-file.ts";

const SECRET = "123-45-6789";

/** What is broken: a file of the runtime, the text in it, and what stands in its place. */
interface Fault {
  readonly file: string;
  readonly replace: string | RegExp;
  readonly by: string;
}

/** Any function of a module made to fail, whatever it is called with. */
const broken = (module: string, name: string, body: string): Fault => ({
  file: `gatehouse/${module}.lua`,
  replace: /\nreturn ([a-z_]+)\s*$/,
  by: `\n$1.${name} = function(...) ${body} end\nreturn $1\n`,
});

const RAISE = 'error("on purpose")';
/** What LuaJIT does when there is no memory left. */
const NO_MEMORY = 'return string.rep("x", 2 ^ 31 - 1)';

/** A gateway whose Lua runtime has a fault. */
async function withFault<T>(fault: Fault, use: (gateway: TestGateway) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-fault-"));
  await cp(LUA_DIRECTORY, directory, { recursive: true });
  const path = join(directory, fault.file);
  const text = await readFile(path, "utf8");
  const changed = text.replace(fault.replace, fault.by);
  assert.notEqual(changed, text, "the fault is in");
  await writeFile(path, changed);
  const gateway = await startGateway({ luaDirectory: directory });
  try {
    return await use(gateway);
  } finally {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

describe("gateway: a fault of the Lua runtime", () => {
  const json = (text: string) => (gateway: TestGateway) => {
    gateway.upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    };
    gateway.authz.decide = () => planned(responsePlan(field("ssn")));
  };

  describe("lets no original answer through", () => {
    const faults: readonly [string, Fault][] = [
      ["masking raises", broken("mask", "apply", RAISE)],
      ["masking has no memory", broken("mask", "apply", NO_MEMORY)],
      ["masking returns nonsense", broken("mask", "apply", "return 7")],
      ["the scanner raises", broken("json", "scan", RAISE)],
      ["plans cannot be read", broken("plan", "read", RAISE)],
      ["answers are not looked at", broken("response", "run", "return")],
      ["refusing fails, too", broken("refusal", "body", RAISE)],
      ["nothing can be noted", broken("stream", "note", RAISE)],
      ["headers cannot be removed", broken("original", "forget", RAISE)],
      ["trailers cannot be removed", broken("original", "forget_trailers", RAISE)],
      [
        "the filter raises at once",
        {
          file: "answers.lua",
          replace: "function envoy_on_response(handle)",
          by: `function envoy_on_response(handle) ${RAISE}`,
        },
      ],
      [
        "the filter does nothing",
        {
          file: "answers.lua",
          replace: "function envoy_on_response(handle)",
          by: "function envoy_on_response(handle) do return end",
        },
      ],
    ];
    for (const [name, fault] of faults) {
      it(`when ${name}`, async () => {
        await withFault(fault, async (gateway) => {
          json(name === "refusing fails, too" ? SECRET : `{"ssn":"${SECRET}"}`)(gateway);
          const { status, body } = await send(gateway.port, "/");
          assert.equal(status, 502);
          assert.ok(!body.includes(SECRET), body);
        });
      });
    }

    it("when a condition raises: the field is masked", async () => {
      await withFault(broken("condition", "evaluate", RAISE), async (gateway) => {
        json(`{"ssn":"${SECRET}"}`)(gateway);
        gateway.authz.decide = () =>
          planned(responsePlan(field("ssn", { when: { op: "literal", value: false } })));
        const { body } = await send(gateway.port, "/");
        assert.equal(body, '{"ssn":"***"}');
      });
    });

    it("when Envoy does not replace what is refused at its headers", async () => {
      const fault = {
        file: "gatehouse/response.lua",
        replace: "handle:headers():replace(REFUSE.header, REFUSE.value)",
        by: "",
      };
      await withFault(fault, async (gateway) => {
        json("")(gateway);
        gateway.upstream.answer = (_request, response) => {
          response.writeHead(200, { "content-type": "text/plain" }).end(SECRET);
        };
        const { status, body } = await send(gateway.port, "/");
        assert.deepEqual([status, body.includes(SECRET)], [502, false]);
      });
    });

    it("when it comes in the middle of a stream", async () => {
      const loop = "for chunk in handle:bodyChunks() do\n    last_chunk";
      const inLoop: Fault = {
        file: "gatehouse/response.lua",
        replace: loop,
        by: `local number = 0\n  for chunk in handle:bodyChunks() do\n    number = number + 1\n    if number > 1 then ${RAISE} end\n    last_chunk`,
      };
      for (const fault of [
        inLoop,
        broken(
          "mask",
          "apply",
          `if (...):find("2", 1, true) then ${RAISE} end return { text = (...), count = 0, paths = {} }`,
        ),
      ]) {
        await withFault(fault, async (gateway) => {
          const first = Promise.withResolvers<null>();
          gateway.upstream.answer = (_request, response) => {
            response.writeHead(200, { "content-type": "application/x-ndjson" });
            response.write('{"n":1}\n');
            // a part of its own, for the first has arrived by then
            void first.promise.then(() =>
              response.write(`{"n":2,"ssn":"${SECRET}"}\n`, () =>
                response.end(`{"n":3,"ssn":"${SECRET}"}\n`),
              ),
            );
          };
          gateway.authz.decide = () => planned(responsePlan(field("ssn")));
          const answer = await sendRaw(gateway.port, get("/"), (text) => {
            if (text.includes('{"n":1}\n')) first.resolve(null);
            return false;
          });
          assert.ok(!answer.includes(SECRET), answer);
          assert.ok(answer.includes('{"n":1}\n'), answer);
        });
      }
    });
  });

  describe("lets no message through", () => {
    const faults: readonly [string, Fault][] = [
      ["evaluating raises", broken("messages", "evaluate", RAISE)],
      ["evaluating has no memory", broken("messages", "evaluate", NO_MEMORY)],
      ["evaluating returns nonsense", broken("messages", "evaluate", "return 7")],
      ["sockets cannot be made", broken("socket", "new", RAISE)],
      ["the state cannot be read", broken("connections", "check", RAISE)],
      [
        "the filter raises at once",
        {
          file: "sockets.lua",
          replace: "function envoy_on_request(handle)",
          by: `function envoy_on_request(handle) ${RAISE}`,
        },
      ],
      [
        "the filter does nothing",
        {
          file: "sockets.lua",
          replace: "function envoy_on_request(handle)",
          by: "function envoy_on_request(handle) do return end",
        },
      ],
      [
        "the loop raises",
        {
          file: "gatehouse/upgrade.lua",
          replace: 'local size, output = chunk:length(), ""',
          by: `if count >= 0 then ${RAISE} end local size, output = chunk:length(), ""`,
        },
      ],
    ];
    for (const [name, fault] of faults) {
      it(`when ${name}`, async () => {
        await withFault(fault, async (gateway) => {
          const seen: string[] = [];
          const server = new WebSocketServer({ server: gateway.upstream.server });
          server.on("connection", (socket) => {
            socket.on("message", (data: Buffer) => seen.push(data.toString()));
            socket.on("error", () => undefined);
            socket.send(`{"type":"told","ssn":"${SECRET}"}`);
          });
          const state = await openState();
          const types = { told: { rule: "m", when: false, onDeny: "drop" } } as const;
          const plan = {
            ir: 1,
            websocket: { limit: 1000, environment: "", plain: false, send: types, receive: types },
          };
          gateway.authz.decide = () => planned(plan, state.metadata);
          const received: string[] = [];
          const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/`);
          client.on("message", (data: Buffer) => received.push(data.toString()));
          const ended = new Promise<void>((resolve) => {
            client.on("error", () => undefined);
            client.on("close", () => {
              resolve();
            });
          });
          client.on("open", () => {
            for (let index = 0; index < 3; index += 1) client.send(`{"type":"told","n":${index}}`);
          });
          await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 300))]);
          client.terminate();
          server.close();
          await state.close();
          assert.deepEqual(seen, [], "nothing reached the application");
          assert.ok(!received.some((text) => text.includes(SECRET)), received.join());
        });
      });
    }
  });
});
