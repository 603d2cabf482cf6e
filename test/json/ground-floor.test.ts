import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";

const CALLS = {
  json: `room.parseJson('{"a":[1,"x"]}', { depth: 2 }).value`,
  text: `[room.redactTarget("/a?b=c"), room.quoted("x"), room.decodeUtf8(bytes).text, room.nearestName("GTE", ["GET"])]`,
} as const;

describe("the ground floor", () => {
  for (const [room, call] of Object.entries(CALLS)) {
    it(`src/${room} imports nothing, and runs where there is nothing but ECMAScript and TextDecoder`, async () => {
      const { outputFiles, metafile, warnings } = await build({
        entryPoints: [new URL(`../../src/${room}/index.ts`, import.meta.url).pathname],
        bundle: true,
        write: false,
        metafile: true,
        platform: "neutral",
        format: "iife",
        globalName: "room",
      });
      assert.deepEqual(warnings, []);
      const outside = Object.keys(metafile.inputs).filter((file) => !file.startsWith(`src/${room}/`));
      assert.deepEqual(outside, []);
      const result: unknown = runInNewContext(`${outputFiles[0]?.text ?? ""};JSON.stringify(${call})`, {
        TextDecoder,
        bytes: new TextEncoder().encode("\u20ac"),
      });
      assert.equal(result, room === "json" ? '{"a":[1,"x"]}' : '["/a?b=***","`x`","\u20ac","GET"]');
    });
  }
});
