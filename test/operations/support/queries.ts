import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The dashboards of `deploy/grafana`. */
export const DASHBOARDS = ["gateway", "control-plane"] as const;

/** The parts of a Grafana dashboard that the tests read. */
export interface Dashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
}

interface Variable {
  readonly name: string;
  readonly definition?: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const RULES_FILE = `${ROOT}deploy/prometheus/rules.yaml`;

export function dashboardText(name: string): string {
  return readFileSync(`${ROOT}deploy/grafana/${name}.json`, "utf8");
}

export function dashboard(name: string): Dashboard {
  return JSON.parse(dashboardText(name)) as Dashboard;
}

/** The rules of all groups. */
export function rules(): readonly Rule[] {
  const { groups } = load(readFileSync(RULES_FILE, "utf8")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
}

/** A use of a metric in a query, with the values that its labels are compared with. */
export interface Selector {
  readonly metric: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

/** The metrics of ours that a query selects; not the results of recording rules, whose names have colons. */
export function selectorsIn(query: string): readonly Selector[] {
  return [...query.matchAll(/(?<![\w:])(gatehouse_\w+)(?![\w:])(?:\{([^}]*)\})?/g)].map(
    ([, metric = "", matchers = ""]) => ({
      metric,
      labels: Object.fromEntries(
        [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, name = "", values = ""]) => [
          name,
          values.split("|").filter((value) => !value.startsWith("$")),
        ]),
      ),
    }),
  );
}

/** The labels that a query groups by or joins on. */
export function groupedLabels(query: string): readonly string[] {
  return [...query.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(",").map((name) => name.trim()),
  );
}

/** Every query of the dashboards and rules, with where it is. */
export function allQueries(): readonly { readonly where: string; readonly query: string }[] {
  return [
    ...DASHBOARDS.flatMap((name) => {
      const { panels, templating } = dashboard(name);
      return [
        ...panels.flatMap(({ title, targets = [] }) =>
          targets.map(({ expr }) => ({ where: `${name}: ${title}`, query: expr })),
        ),
        ...templating.list.flatMap(({ name: variable, definition }) =>
          definition === undefined ? [] : [{ where: `${name}: $${variable}`, query: definition }],
        ),
      ];
    }),
    ...rules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? "", query: expr })),
  ];
}
