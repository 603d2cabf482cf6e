import { Link } from "wouter-preact";
import { rollout as texts } from "../../messages/policy-sets.ts";
import { Badge, Time } from "../../ui/parts.tsx";
import type { RolloutData } from "./rollout-form.tsx";

type Arms = RolloutData["window"];

/** What gateways report: what the guard sees, both arms, differences in shadow, who follows. */
export function RolloutReports({ data, name }: { readonly data: RolloutData; readonly name: string }) {
  return (
    <>
      <div class="card">
        <h2>{texts.outcome}</h2>
        {data.comparison === null ? (
          <p class="quiet">{texts.noComparison}</p>
        ) : (
          <p>
            {texts.outcomes[data.comparison.outcome]}
            {data.comparison.detail !== undefined && `: ${data.comparison.detail}`}
          </p>
        )}
      </div>
      <h2>{texts.arms}</h2>
      <ArmsTable arms={data.totals} data={data} caption={texts.totals} />
      {data.state === "running" && <ArmsTable arms={data.window} data={data} caption={texts.window} />}
      <Shadow shadow={data.shadow} name={name} />
      <h2>{texts.gateways}</h2>
      <Gateways data={data} />
    </>
  );
}

interface ArmsProps {
  readonly arms: Arms;
  readonly data: RolloutData;
  readonly caption: string;
}

function ArmsTable({ arms, data, caption }: ArmsProps) {
  return (
    <div class="scrolled spaced" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="shown">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.arm}</th>
            {[texts.decisions, texts.denials, texts.errors, texts.p99].map((title) => (
              <th key={title} scope="col" class="numeric">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(["stable", "candidate"] as const).map((arm) => (
            <tr key={arm}>
              <th scope="row">
                {arm === "stable" ? texts.stable : texts.candidate}: {data[arm].version}
              </th>
              <td class="numeric">{arms[arm].decisions.toLocaleString("en")}</td>
              <td class="numeric">{arms[arm].denials.toLocaleString("en")}</td>
              <td class="numeric">{arms[arm].errors.toLocaleString("en")}</td>
              <td class="numeric">{texts.ms(arms[arm].p99_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shadow({ shadow, name }: { readonly shadow: RolloutData["shadow"]; readonly name: string }) {
  const { same, different, failed, dropped, rules } = shadow;
  return (
    <>
      <h2>{texts.shadow}</h2>
      <p>{texts.shadowCounts(same, different)}</p>
      {failed + dropped > 0 && <p class="problem">{texts.shadowLost(failed, dropped)}</p>}
      {rules.length === 0 ? (
        <p class="quiet">{texts.noDifferences}</p>
      ) : (
        <div class="scrolled spaced" tabIndex={0} role="region" aria-label={texts.shadow}>
          <table>
            <thead>
              <tr>
                <th scope="col">{texts.difference}</th>
                <th scope="col">{texts.rule}</th>
                <th scope="col" class="numeric">
                  {texts.count}
                </th>
              </tr>
            </thead>
            <tbody>
              {rules.map(({ difference, rule, count }) => (
                <tr key={`${difference} ${rule}`}>
                  <td>{texts.differences[difference]}</td>
                  <td>
                    <Link
                      href={`/audit?kind=shadow&rule=${encodeURIComponent(rule)}`}
                      aria-label={`${texts.records}: ${name} ${rule}`}
                    >
                      {rule}
                    </Link>
                  </td>
                  <td class="numeric">{count.toLocaleString("en")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Gateways({ data: { gateways, revision } }: { readonly data: RolloutData }) {
  if (gateways.length === 0) return <p class="quiet">{texts.noGateways}</p>;
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label={texts.gateways}>
      <table>
        <thead>
          <tr>
            {[texts.gateway, texts.follows, texts.lastSeen, texts.takenBack].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {gateways.map((gateway) => (
            <tr key={`${gateway.id} ${gateway.key}`}>
              <td>{gateway.id}</td>
              <td>
                <Badge of={gateway.revision === revision ? texts.upToDate : texts.behind} />
              </td>
              <td>
                <Time at={gateway.last_seen_at} />
              </td>
              <td>{gateway.taken_back?.detail ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
