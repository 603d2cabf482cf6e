import { parser } from "@prometheus-io/lezer-promql";

/** Variables that Grafana replaces before Prometheus reads the query: those within quotes may stay. */
const DURATIONS = /\$__(?:rate_interval|range|interval)\b/g;
/** What Grafana asks by itself, with a series or a query in it. */
const LABEL_VALUES = /^label_values\((.*), *\w+\)$/s;

/**
 * @returns the places at which a query of a rule or a dashboard is not PromQL, by the grammar of Prometheus' own editor; characters
 *   from the start
 */
export function syntaxErrorsOf(query: string): readonly number[] {
  const asked = query.replace(LABEL_VALUES, "$1").replaceAll(DURATIONS, "5m");
  const places: number[] = [];
  parser.parse(asked).iterate({
    enter({ type, from }) {
      if (type.isError) places.push(from);
    },
  });
  return places;
}
