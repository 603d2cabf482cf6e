import type { ComponentChildren } from "preact";
import type { ApiFailure } from "../../api/client.ts";
import { usePublished } from "../../api/use-published.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Badge, Failure, Loading } from "../../ui/parts.tsx";

const texts = messages.settings;

interface Health {
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}
interface Jwks {
  readonly keys: readonly { readonly kid: string; readonly alg?: string; readonly kty: string }[];
}

const JWKS = "/.well-known/jwks.json";

/** How this control plane is. */
export function System() {
  const health = usePublished("/readyz", hasChecks);
  const jwks = usePublished(JWKS, hasKeys);
  // any request of each kind tells its limit
  const management = useQuery("/dashboard/session");
  const analytics = useQuery("/analytics/events", { query: { limit: 1 } });
  const limits = {
    data: management.answer &&
      analytics.answer && { management: management.answer.limits, analytics: analytics.answer.limits },
    failure: management.failure ?? analytics.failure,
    reload: () => {
      management.reload();
      analytics.reload();
    },
  };
  return (
    <>
      <Part title={texts.health} loaded={health}>
        {({ checks }) => (
          <Rows
            heads={[texts.check, texts.status, texts.detail]}
            rows={Object.entries(checks).map(([name, { ok, detail }]) => [
              name,
              <Badge of={ok ? "active" : "failed"} title={ok ? texts.good : texts.bad} />,
              detail,
            ])}
          />
        )}
      </Part>
      <Part title={texts.limits} text={texts.limitsText} loaded={limits}>
        {({ management, analytics }) => (
          <Rows
            heads={["", texts.limit, texts.left]}
            rows={[
              [texts.kinds.management, management.limit, management.left],
              [texts.kinds.analytics, analytics.limit, analytics.left],
            ]}
          />
        )}
      </Part>
      <Part title={texts.signingKeys} text={texts.signingText} loaded={jwks}>
        {({ keys }) => (
          <>
            <Rows
              heads={[texts.keyId, texts.algorithm]}
              rows={keys.map(({ kid, alg, kty }) => [<code>{kid}</code>, alg ?? kty])}
            />
            <p class="quiet">
              {texts.jwks} <a href={JWKS}>{JWKS}</a>
            </p>
          </>
        )}
      </Part>
    </>
  );
}

function hasKeys(answer: unknown, status: number): answer is Jwks {
  return status === 200 && Array.isArray((answer as Partial<Jwks> | null)?.keys);
}

/** A control plane that is not ready says so with 503, and why. */
function hasChecks(answer: unknown, status: number): answer is Health {
  const { checks } = (answer ?? {}) as Partial<Health>;
  return (status === 200 || status === 503) && typeof checks === "object" && (checks as unknown) !== null;
}

interface PartProps<T> {
  readonly title: string;
  readonly text?: string;
  readonly loaded: {
    readonly data: T | undefined;
    readonly failure: ApiFailure | undefined;
    readonly reload: () => void;
  };
  readonly children: (data: T) => ComponentChildren;
}

function Part<T>({ title, text, loaded: { data, failure, reload }, children }: PartProps<T>) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {text !== undefined && <p class="quiet">{text}</p>}
      {failure ? (
        <Failure failure={failure} retry={reload} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        children(data)
      )}
    </section>
  );
}

interface RowsProps {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

function Rows({ heads, rows }: RowsProps) {
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label={heads.join(", ")}>
      <table>
        <thead>
          <tr>
            {heads.map((head, index) =>
              head === "" ? (
                <td key={index} />
              ) : (
                <th key={index} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
