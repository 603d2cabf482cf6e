import assert from "node:assert/strict";
import fc from "fast-check";
import type { LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";
import {
  bytewise,
  conversation,
  hasLongLength,
  mutate,
  mutations,
  split,
  startReaders,
  wireOf,
  type LuaReaders,
} from "./frames-support.ts";
import { said, saidClose, wire, wsReading } from "./support.ts";

/** Cases that one call of Lua takes. */
const BATCH = 40;

const places = fc.array(fc.nat(200_000), { maxLength: 6 });
const stream = fc.record({ frames: conversation, masked: fc.boolean(), seed: fc.nat(), places });
const batchOf = <Case>(one: fc.Arbitrary<Case>) => fc.array(one, { minLength: BATCH, maxLength: BATCH });
const rounds = { numRuns: runs(6) };

/** Pieces that were passed on, and control frames written again: what the other side gets. */
function forwarded(events: readonly string[]): Buffer {
  return Buffer.concat(
    events.map((event) => {
      const [kind, ...rest] = event.split(" ");
      const payload = Buffer.from(rest.at(-1) ?? "", "hex");
      if (kind === "last" || kind === "part") return payload;
      if (kind === "ping" || kind === "pong") return wire({ opcode: kind === "ping" ? 9 : 10, payload });
      const code = Buffer.alloc(2);
      code.writeUInt16BE(Number(rest[0]));
      return wire({ opcode: 8, payload: rest[0] === "" ? "" : Buffer.concat([code, payload]) });
    }),
  );
}

describe("frames.lua beside ws", () => {
  let runner: LuaRunner;
  let read: LuaReaders;
  before(async () => {
    ({ runner, read } = await startReaders());
  });
  after(() => runner.close());

  it("reads the same from peers that keep the protocol, however the bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(batchOf(stream), async (streams) => {
        const all = streams.map(({ frames, masked, seed }) => wireOf(frames, masked, seed));
        const readings = await read(
          streams.map(({ masked, places }, index) => ({ masked, chunks: split(all[index]!, places) })),
        );
        for (const [index, { masked }] of streams.entries()) {
          const expected = await wsReading(all[index]!, { masked });
          assert.equal(expected.broken, undefined);
          assert.deepEqual(readings[index], expected);
        }
      }),
      rounds,
    );
  });

  it("reads the same from peers that do not, up to the same close code", async () => {
    const broken = fc.record({ of: stream, changes: mutations, limit: fc.constantFrom(10, 200, 100_000) });
    let unequal = 0;
    await fc.assert(
      fc.asyncProperty(batchOf(broken), async (streams) => {
        const all = streams.map(({ of: { frames, masked, seed }, changes }) =>
          mutate(wireOf(frames, masked, seed), changes),
        );
        const readings = await read(
          streams.map(({ of: { masked, places }, limit }, index) => ({
            masked,
            limit,
            chunks: split(all[index]!, places),
          })),
        );
        for (const [index, { of, limit }] of streams.entries()) {
          // `ws` does not ask for the shortest form of a length
          if (hasLongLength(all[index]!)) continue;
          const expected = await wsReading(all[index]!, { masked: of.masked, limit });
          if (expected.broken !== undefined) unequal += 1;
          assert.deepEqual(readings[index], expected);
        }
      }),
      rounds,
    );
    assert.ok(unequal > 0, "nothing was broken");
  });

  it("reads any bytes in the same way, whole and byte by byte, collected or passed, and never raises", async () => {
    const garbage = fc.record({
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
        fc
          .tuple(stream, mutations)
          .map(([{ frames, masked, seed }, changes]) =>
            mutate(wireOf(frames, masked, seed), changes).subarray(0, 3_000),
          ),
      ),
      masked: fc.boolean(),
      limit: fc.constantFrom(0, 10, 100_000),
      collect: fc.boolean(),
      places,
    });
    await fc.assert(
      fc.asyncProperty(batchOf(garbage), async (all) => {
        const whole = await read(all.map(({ bytes, ...options }) => ({ ...options, chunks: [bytes] })));
        const single = await read(
          all.map(({ bytes, ...options }) => ({ ...options, chunks: bytewise(bytes) })),
        );
        assert.deepEqual(single, whole);
      }),
      rounds,
    );
  });

  it("passes on what nobody evaluates: the same messages, small frames byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(batchOf(stream), async (streams) => {
        const unmasked = streams.map((one) => ({ ...one, bytes: wireOf(one.frames, false, one.seed) }));
        const readings = await read(
          unmasked.map(({ bytes, places }) => ({
            masked: false,
            collect: false,
            chunks: split(bytes, places),
          })),
        );
        for (const [index, { bytes, frames }] of unmasked.entries()) {
          const output = forwarded(readings[index]!.events);
          assert.deepEqual(
            await wsReading(output, { masked: false }),
            await wsReading(bytes, { masked: false }),
          );
          if (frames.every(({ payload }) => payload.length <= 65_536)) assert.deepEqual(output, bytes);
        }
      }),
      rounds,
    );
  });

  it("passes on large frames in parts that can be broken off, masked as they came", async () => {
    const payload = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 128));
    const bytes = wire({ opcode: 1, payload, key: Buffer.from([1, 2, 3, 4]) });
    const cut = bytes.subarray(0, bytes.length - 1);
    const [whole, unfinished] = await read([
      { masked: true, collect: false, chunks: split(bytes, [3, 70_000, 70_001]) },
      { masked: true, collect: false, chunks: [cut] },
    ]);
    assert.deepEqual(
      whole!.events.map((event) => event.slice(0, 4)),
      ["part", "part", "part", "last"],
    );
    assert.deepEqual(await wsReading(forwarded(whole!.events), { masked: true }), {
      events: [said("text", payload)],
    });
    const close = wire({ opcode: 8, payload: "", key: Buffer.alloc(4) });
    assert.equal(unfinished!.events.length, 3);
    assert.deepEqual(
      await wsReading(Buffer.concat([forwarded(unfinished!.events), close]), { masked: true }),
      {
        events: [saidClose()],
      },
    );
  });
});
