import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { REASONS } from "../../src/reasons.ts";
import { createMetrics, UPSTREAM_METRICS } from "../../src/telemetry/metrics.ts";
import { PRODUCTION_ONLY, startControlPlaneProcess } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { syntaxErrorsOf } from "../support/promql.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { allQueries, dashboard, DASHBOARDS, groupedLabels, rules, selectorsIn } from "./support/queries.ts";

const page = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/operations/${name}.md`, import.meta.url)), "utf8");
/** The address under which GitHub shows a page of this repository. */
const PAGES = "https://github.com/gatehouse-access/gatehouse/blob/main/docs/operations/";

interface Family {
  readonly help: string;
  readonly labels: ReadonlySet<string>;
}

/** What prom-client does not declare of a metric. */
interface Declared {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** The metrics of the program, with the labels that it may give them. */
function declared(): ReadonlyMap<string, Family> {
  const { registry: _, ...metrics } = createMetrics();
  const known = (Object.values(metrics) as unknown as Declared[]).map(
    ({ name, help, labelNames }) => [name, { help, labels: new Set(labelNames) }] as const,
  );
  return new Map<string, Family>([
    ...known,
    [
      UPSTREAM_METRICS.responses.name,
      { help: UPSTREAM_METRICS.responses.help, labels: new Set(["upstream", "class"]) },
    ],
    [UPSTREAM_METRICS.duration.name, { help: UPSTREAM_METRICS.duration.help, labels: new Set(["upstream"]) }],
    [UPSTREAM_METRICS.dropped.name, { help: UPSTREAM_METRICS.dropped.help, labels: new Set() }],
  ]);
}

/** Series of a histogram have the name of its family, and more. */
const familyOf = (metric: string) => metric.replace(/_(?:bucket|sum|count)$/, "");

/** Families and labels in the text that Prometheus reads. */
function served(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const families = new Map<string, Set<string>>(
    [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => [name, new Set<string>()]),
  );
  for (const [, metric = "", labels = ""] of text.matchAll(/^(gatehouse_\w+)(?:\{(.*)\})? \S+$/gm))
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g))
      (families.get(metric) ?? families.get(familyOf(metric)))?.add(label);
  return families;
}

describe("operations: dashboards and alerts", () => {
  it("ask in PromQL", () => {
    for (const { where, query } of allQueries()) assert.deepEqual(syntaxErrorsOf(query), [], where);
    for (const broken of ["sum(rate(a[5m])", "a > ", 'a{b="c"', "a and on(b group_left c", "rate(a[5x])"])
      assert.notDeepEqual(syntaxErrorsOf(broken), [], broken);
  });

  it("are set up as monitoring.md says: with the jobs that the rules expect, and a folder for the dashboards", () => {
    const [prometheus, grafana, ...others] = [...page("monitoring").matchAll(/^```yaml\n(.*?)^```$/gms)].map(
      ([, text = ""]) => load(text),
    );
    assert.deepEqual(others, []);
    const jobs = rules().flatMap(({ expr }) => [...expr.matchAll(/job="([^"]+)"/g)].map(([, job]) => job));
    const { rule_files: files, scrape_configs: scraped } = prometheus as {
      rule_files: string[];
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    };
    assert.deepEqual(files, ["gatehouse-rules.yaml"]);
    assert.deepEqual(scraped.map(({ job_name: name }) => name).toSorted(), [...new Set(jobs)].toSorted());
    const ports = { "gatehouse-gateway": ":9090", "gatehouse-control-plane": ":9091" };
    for (const { job_name: name, static_configs: configs } of scraped)
      for (const target of configs.flatMap(({ targets }) => targets))
        assert.ok(target.endsWith(ports[name as keyof typeof ports]), target);
    assert.deepEqual(grafana, {
      apiVersion: 1,
      providers: [
        { name: "gatehouse", type: "file", options: { path: "/var/lib/grafana/dashboards/gatehouse" } },
      ],
    });
  });

  it("compare labels with values that they can have", () => {
    const families = declared();
    const closed: Readonly<Record<string, RegExp>> = {
      decision: /^(?:ALLOW|DENY)$/,
      reason: new RegExp(`^(?:${[...Object.keys(REASONS), "CLOCK_AHEAD"].join("|")})$`),
      // of HTTP, and of gateways (docs/fleet.md)
      status: /^(?:5\.\.|alive|lagging|diverged|lost)$/,
      operation: /^followState$/,
    };
    for (const { where, query } of allQueries())
      for (const { metric, labels } of selectorsIn(query)) {
        const family = families.get(metric) ?? families.get(familyOf(metric));
        assert.ok(family, `${where}: ${metric}`);
        for (const [label, values] of Object.entries(labels))
          for (const value of values)
            assert.match(
              value,
              closed[label] ?? new RegExp(`^(?:${family.help.match(/\w+/g)?.join("|")})$`),
              `${where}: ${metric}{${label}="${value}"}`,
            );
      }
  });

  it("show every metric", () => {
    const shown = new Set(
      DASHBOARDS.flatMap((name) =>
        dashboard(name).panels.flatMap(({ targets = [] }) =>
          targets.flatMap(({ expr }) => selectorsIn(expr).map(({ metric }) => familyOf(metric))),
        ),
      ),
    );
    const missing = [...declared().keys()].filter((name) => !shown.has(name) && !shown.has(familyOf(name)));
    assert.deepEqual(missing, []);
  });

  for (const name of DASHBOARDS)
    it(`${name}: panels have a place and an id of their own`, () => {
      const { panels } = dashboard(name);
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      const taken = new Map<string, string>();
      for (const { title, gridPos, targets = [], type } of panels) {
        const { x, y, w, h } = gridPos;
        assert.ok(x >= 0 && x + w <= 24, title);
        for (let column = x; column < x + w; column += 1)
          for (let row = y; row < y + h; row += 1) {
            const other = taken.get(`${column},${row}`);
            assert.equal(other, undefined, `${title} covers ${other}`);
            taken.set(`${column},${row}`, title);
          }
        assert.equal(targets.length > 0, type !== "row", title);
        assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      }
    });

  it("alerts say how urgent they are, and what to do", () => {
    const alerts = rules().filter(({ alert }) => alert !== undefined);
    assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
    for (const { alert = "", labels = {}, annotations = {}, for: wait } of alerts) {
      assert.match(labels["severity"] ?? "", /^(?:critical|warning)$/, alert);
      assert.match(wait ?? "", /^\d+[smh]$/, alert);
      for (const name of ["summary", "description"]) assert.ok(annotations[name], `${alert}: ${name}`);
      const link = annotations["runbook_url"] ?? "";
      assert.ok(link.startsWith(PAGES), alert);
      const [file = "", anchor = ""] = link.slice(PAGES.length).split("#");
      const section = sections(page(file.replace(/\.md$/, ""))).get(anchor);
      assert.ok(section?.includes(`\`${alert}\``), `${alert} is in the section ${anchor}`);
    }
  });

  it("incidents name no other alerts", () => {
    const known = new Set(rules().map(({ alert }) => alert));
    for (const name of ["incidents", "monitoring"])
      for (const [, alert] of page(name).matchAll(/`(Gatehouse[A-Z]\w+)`/g))
        assert.ok(known.has(alert), alert);
  });
});

/** The sections of a page, by GitHub's anchors of their headings. */
function sections(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/^## /m).map((section) => {
      const heading = section.slice(0, section.indexOf("\n"));
      const anchor = heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-");
      return [anchor, section];
    }),
  );
}

describe("operations: metrics that dashboards and alerts read", () => {
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let plane: Awaited<ReturnType<typeof startControlPlaneProcess>>;

  before(async () => {
    [issuer, plane] = await Promise.all([
      startIssuer(),
      startControlPlaneProcess({
        config: { api: PRODUCTION_ONLY, telemetry: { control_plane_port: 0, log_level: "info" } },
      }),
    ]);
    gateway = await startGateway({
      backend: issuer.url,
      issuer,
      policies: { "default.yaml": `policies:\n  - { resource: "GET /**", condition: "true" }\n` },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    assert.equal(await plane.stop(), 0, plane.stderr());
  });

  it("are served, with these labels", async () => {
    assert.ok((await fetch(`${gateway.url}/.well-known/openid-configuration`)).ok);
    await plane.createKey("production", "read_only");
    await fetch(`${plane.url.production}/v1/customers`);
    const [, admin = ""] = /"admin":"(http:[^"]+)"/.exec(plane.stderr()) ?? [];
    const read = async (url: string) => served(await (await fetch(`${url}/metrics`)).text());
    const families = declared();
    const outside = new Set(["instance", "job", "le", "worker"]);
    await eventually("series of answers and decisions", async () => {
      const [of, ofPlane] = [await read(gateway.adminUrl), await read(admin)];
      return (
        of.get("gatehouse_upstream_responses_total")?.has("class") &&
        ofPlane.get("gatehouse_webhooks")?.has("state")
      );
    });
    const texts = new Map([...(await read(admin)), ...(await read(gateway.adminUrl))]);
    for (const { where, query } of allQueries()) {
      const selectors = selectorsIn(query);
      const possible = new Set(outside);
      for (const { metric, labels } of selectors) {
        const name = texts.has(metric) ? metric : familyOf(metric);
        assert.ok(texts.has(name), `${where}: ${metric} is not served`);
        const own = families.get(name)?.labels ?? new Set<string>();
        for (const label of [...own, ...(texts.get(name) ?? [])]) possible.add(label);
        for (const label of Object.keys(labels))
          assert.ok(own.has(label) || outside.has(label), `${where}: ${metric} has no label ${label}`);
      }
      // queries over recorded series alone say in their names what they keep
      if (selectors.length > 0)
        for (const label of groupedLabels(query)) assert.ok(possible.has(label), `${where}: ${label}`);
    }
    // what is served has no labels but those that the program declares
    for (const [name, labels] of texts)
      for (const label of labels)
        assert.ok(
          (families.get(name)?.labels.has(label) ?? false) || outside.has(label),
          `${name}{${label}}`,
        );
  });
});
