import { many as texts } from "../../../messages/many.ts";
import { requirements } from "../../../messages/requirements.ts";
import { CustomerRows } from "./customer-rows.tsx";
import type { Job } from "./selection.ts";

/** What a preview has counted, in sentences. */
export function ImpactText({ job: { impact, status } }: { readonly job: Job }) {
  return (
    <>
      {status !== "finished" && <p class="problem">{texts.impactPart}</p>}
      <p>
        {impact === null
          ? texts.impactNobody
          : impact.refused === null
            ? texts.impactUnknown
            : impact.refused === 0
              ? texts.impactNone(impact.sessions)
              : texts.impactSome(impact.refused, impact.sessions, impact.customers)}
      </p>
      {impact?.complete === false && <p class="hint">{texts.impactMore}</p>}
    </>
  );
}

/** The customers of whom a preview says that they would be locked out. */
export function ImpactExamples({ job: { impact } }: { readonly job: Job }) {
  if (!impact || impact.examples.length === 0) return null;
  return (
    <CustomerRows
      caption={texts.examples}
      rows={impact.examples}
      columns={[
        { title: texts.refused, numeric: true, cell: ({ refused }) => refused.toLocaleString("en") },
        { title: texts.sessions, numeric: true, cell: ({ sessions }) => sessions.toLocaleString("en") },
        {
          title: texts.why,
          cell: (example) =>
            example.requirements
              .map(
                ({ requirement, sessions }) =>
                  `${requirements.lockedOut[requirement]} (${sessions.toLocaleString("en")})`,
              )
              .join(", "),
        },
      ]}
    />
  );
}
