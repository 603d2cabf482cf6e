import assert from "node:assert/strict";
import fc from "fast-check";
import { prefersHtml } from "../../../src/request/prefers-html.ts";
import { localReplies } from "../../../src/gateway/local-replies.ts";
import { PREFERS_HTML } from "../../../src/gateway/local-pages.ts";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { factsOf, parseHtml } from "../../support/html.ts";

interface HeaderFilter {
  readonly header_filter: {
    readonly header: {
      readonly name: string;
      readonly string_match: { readonly safe_regex: { readonly regex: string } };
      readonly invert_match?: boolean;
    };
  };
}

/** What Envoy makes of the filter: RE2 matches the whole value, and repeated headers are joined. */
function pageFor(accept: readonly string[]): boolean {
  const { and_filter: all } = PREFERS_HTML as { and_filter: { filters: readonly HeaderFilter[] } };
  return all.filters.every(({ header_filter: { header } }) => {
    assert.equal(header.name, "accept");
    const { regex } = header.string_match.safe_regex;
    assert.ok(regex.startsWith("(?i)"));
    const matches = new RegExp(`^(?:${regex.slice("(?i)".length)})$`, "i").test(accept.join(","));
    return matches !== (header.invert_match === true);
  });
}

describe("gateway: pages in place of Envoy's own answers", () => {
  const weights = [
    "",
    ";q=1",
    "; q=1.000",
    ";q=1.0000",
    ";q=0.9",
    ";q=0",
    "; Q=0.8",
    ";q =1",
    ";q= 1",
    ";q=",
    ";",
    ";;q=1",
    ";q=2",
    ";q=0.5;q=1",
    ";v=1",
    ";v=1;q=0.1",
    ' ;v="a,text/html,b"',
    " ;q",
  ];
  const types = [
    "text/html",
    "TEXT/HTML",
    "text/*",
    "application/json",
    "Application/*",
    "*/*",
    "application/jsonx",
    "x-text/html",
    "image/png",
    " text/html ",
    "\t*/*",
    "",
  ];
  const range = fc
    .tuple(fc.constantFrom(...types), fc.constantFrom(...weights))
    .map((parts) => parts.join(""));

  it("come to nobody whom the service would answer in JSON", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.array(range, { maxLength: 4 }).map((ranges) => ranges.join(",")),
          { maxLength: 2 },
        ),
        (accept) => {
          if (pageFor(accept)) assert.ok(prefersHtml(accept), JSON.stringify(accept));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it("come to browsers", () => {
    for (const accept of [
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/html",
      "text/html, application/xhtml+xml, image/jxr, */*;q=0.1",
      "text/html, application/json; q=0.9",
      "text/plain, text/html;q=1.0",
    ]) {
      assert.ok(pageFor([accept]), accept);
      assert.ok(prefersHtml([accept]), accept);
    }
  });

  it("are there for every answer, before its JSON, and say the same code", () => {
    const loaded = loadGatewayConfig({ env: {} });
    assert.ok(loaded.ok);
    const { mappers } = localReplies(loaded.config) as {
      mappers: readonly {
        filter: object;
        headers_to_add?: readonly { header: { key: string; value: string } }[];
        body_format_override?: {
          json_format?: { error: { code: string } };
          text_format_source?: { inline_string: string };
        };
      }[];
    };
    const grpc: unknown[] = [];
    const grpcWeb: unknown[] = [];
    const codeOf = (text = "") => /^([A-Z_]+): ./.exec(text)?.[1];
    const texts = mappers.flatMap(({ body_format_override: format, filter, headers_to_add: added = [] }) => {
      if (format === undefined) return [];
      const text = format.text_format_source?.inline_string;
      if (JSON.stringify(filter).includes('"content-type"')) {
        const message = added.find(({ header }) => header.key === "grpc-message")?.header.value;
        // a body would be neither a message nor trailers
        if (message === undefined) grpc.push(codeOf(text));
        else grpcWeb.push(text === "" ? codeOf(message) : text);
        return [];
      }
      const page = text;
      assert.equal(JSON.stringify(filter).includes('"accept"'), page !== undefined);
      if (page === undefined) return [{ code: format.json_format?.error.code, title: undefined }];
      assert.ok(!page.includes("{operator"), page);
      const elements = parseHtml(page);
      assert.equal(factsOf(elements)["Status"], "%RESPONSE_CODE%");
      const title = elements.find(({ name }) => name === "h1")?.text;
      return [{ code: factsOf(elements)["Code"], title }];
    });
    for (const calls of [grpc, grpcWeb])
      assert.deepEqual(
        new Set(calls),
        new Set(texts.map(({ code }) => code)),
        "the messages of gRPC calls say the code, too",
      );
    const pages = texts.filter(({ title }) => title !== undefined);
    assert.deepEqual(
      new Set(pages.map(({ code }) => code)),
      new Set(texts.filter(({ title }) => title === undefined).map(({ code }) => code)),
    );
    assert.equal(pages.length * 2, texts.length);
    const unknown = pages.filter(({ title }) => title === "Something went wrong").map(({ code }) => code);
    assert.deepEqual(new Set(unknown), new Set(["NOT_IMPLEMENTED", "INTERNAL_ERROR"]));
  });
});
