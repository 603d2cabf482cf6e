import type { Data } from "../../api/types.ts";
import { useQuery } from "../../api/use-query.ts";
import { requirements as texts } from "../../messages/requirements.ts";
import { Failure, Loading } from "../../ui/parts.tsx";
import type { Conditions } from "./required-by.ts";

type Policy = Data<"/policies/{id}">;

/** What a policy would do to the open sessions of a customer. */
export function Impact({
  policy,
  customer,
}: {
  readonly policy: Pick<Policy, "id" | "name" | "conditions">;
  readonly customer: string;
}) {
  const { answer, failure, reload } = useQuery("/customers/{id}/policies/{policy_id}/impact", {
    params: { id: customer, policy_id: policy.id },
  });
  if (failure) return <Failure failure={failure} retry={reload} />;
  if (!answer) return <Loading />;
  const { policy_set: set }: Conditions = policy.conditions;
  const { sessions, refused, users, requirements, examples, complete } = answer.data;
  return (
    <div class="card" role="status">
      <h3>{texts.impact}</h3>
      <p>
        {refused === null
          ? texts.impactUnknown(set ?? policy.name)
          : sessions === 0
            ? texts.impactNoSessions
            : refused === 0
              ? texts.impactNothing(sessions)
              : texts.impactSome(refused, sessions, users)}
      </p>
      {!complete && <p class="hint">{texts.impactMore}</p>}
      {requirements.map(({ requirement, sessions: count }) => (
        <p key={requirement}>
          <span class="badge bad">{count.toLocaleString("en")}</span> {texts.lockedOut[requirement]}
        </p>
      ))}
      {examples.length > 0 && (
        <p class="hint">
          {texts.impactExample}: {examples.map(({ email, user_id: user }) => email ?? user).join(", ")}
        </p>
      )}
    </div>
  );
}
