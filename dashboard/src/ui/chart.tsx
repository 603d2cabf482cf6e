import { Link } from "wouter-preact";
import type { Data } from "../api/types.ts";
import { messages } from "../messages/index.ts";
import { Time } from "./parts.tsx";

const texts = messages.overview;
const HEIGHT = 100;
const number = (value: number) => value.toLocaleString("en");

/** Decisions per period, denied ones below: as a picture, and as a table whose rows lead to the records. */
export function DecisionChart({ figures }: { readonly figures: Data<"/analytics/dashboard"> }) {
  const { over_time: periods, requests } = figures;
  const busy = periods.filter((period) => period.requests > 0);
  if (busy.length === 0) return <p class="quiet">{texts.noneInRange}</p>;
  const most = Math.max(...periods.map((period) => period.requests));
  const scale = HEIGHT / most;
  const endOf = (start: string) =>
    periods[periods.findIndex((period) => period.start === start) + 1]?.start ?? figures.to;
  return (
    <>
      <svg
        class="chart"
        role="img"
        aria-label={texts.chart(number(requests.allowed), number(requests.denied))}
        viewBox={`0 0 ${periods.length} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {periods.map(({ start, allowed, denied }, index) => {
          const [low, high] = [denied * scale, allowed * scale];
          return (
            <g key={start}>
              <rect class="deny" x={index + 0.08} width="0.84" y={HEIGHT - low} height={low} />
              <rect class="allow" x={index + 0.08} width="0.84" y={HEIGHT - low - high} height={high} />
            </g>
          );
        })}
      </svg>
      <p class="legend">
        <span>
          <span class="swatch allow" aria-hidden="true" />
          {texts.allowed}
        </span>
        <span>
          <span class="swatch deny" aria-hidden="true" />
          {texts.denied}
        </span>
        <span class="quiet">
          <Time at={figures.from} /> – <Time at={figures.to} />
        </span>
      </p>
      <details>
        <summary>{texts.asTable}</summary>
        <div class="scrolled" tabIndex={0} role="region" aria-label={texts.overTime}>
          <table>
            <thead>
              <tr>
                <th scope="col">{texts.from}</th>
                <th scope="col" class="numeric">
                  {texts.allowed}
                </th>
                <th scope="col" class="numeric">
                  {texts.denied}
                </th>
              </tr>
            </thead>
            <tbody>
              {busy.map(({ start, allowed, denied }) => (
                <tr key={start}>
                  <td>
                    <Link
                      href={`/audit?${new URLSearchParams({ from: start, to: endOf(start), kind: "decision" }).toString()}`}
                    >
                      <Time at={start} />
                    </Link>
                  </td>
                  <td class="numeric">{number(allowed)}</td>
                  <td class="numeric">{number(denied)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
