import assert from "node:assert/strict";
import { REASONS } from "../../src/reasons.ts";
import { createMetrics, UPSTREAM_METRICS } from "../../src/telemetry/metrics.ts";
import { pageText } from "./support/page-blocks.ts";

const PAGE = pageText("troubleshooting.md");
const [, BY_REASON = "", BY_METRIC = ""] = PAGE.split(/^## By (?:reason|metric)$/m);

/** The first cells of the rows that begin with a name in back quotes; every cell says something. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/^\| `(\w+)` \|(.+)\|$/gm)].map(([, name = "", rest = ""]) => {
    for (const cell of rest.split(/(?<!\\) \| /)) assert.match(cell, /\w/, name);
    return name;
  });
}

describe("docs/troubleshooting.md", () => {
  it("has cause and remedy of every reason, once", () => {
    const [decided = "", permitted = ""] = BY_REASON.split(
      "### The client got an error, and the record says `ALLOW`",
    );
    assert.notEqual(permitted, "");
    assert.deepEqual(namesIn(decided).toSorted(), Object.keys(REASONS).toSorted());
  });

  it("lists reasons that permit apart from those that deny", () => {
    const [, permits = ""] = /^### It was allowed\n(.*?)^### /ms.exec(BY_REASON) ?? [];
    const reasons = Object.entries(REASONS).filter(([, { status }]) => status === 200);
    assert.deepEqual(
      namesIn(permits),
      reasons.map(([reason]) => reason),
    );
  });

  it("says of every metric when it alarms, or that it does not", async () => {
    const measured = [
      ...(await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name),
      ...Object.values(UPSTREAM_METRICS).map(({ name }) => name),
    ];
    const [alarming = "", others = ""] = BY_METRIC.split("### For dashboards");
    const listed = [...others.matchAll(/`(gatehouse_\w+)`/g)].map(([, name = ""]) => name);
    assert.ok(listed.length > 0);
    assert.deepEqual([...namesIn(alarming), ...listed].toSorted(), measured.toSorted());
  });

  it("names keys that the configuration has", () => {
    const reference = pageText("configuration.md");
    const sections = [...reference.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    const keys = [...PAGE.matchAll(/`((\w+)\.[\w.]+)`/g)].filter(([, , section]) =>
      sections.includes(section),
    );
    assert.ok(keys.length > 30);
    for (const [, key = ""] of keys) assert.ok(reference.includes(`**\`${key}`), key);
  });
});
