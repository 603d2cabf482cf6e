import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messages } from "../../messages/index.ts";
import { Badge, Loading } from "../../ui/parts.tsx";

const texts = messages.settings;

interface Health {
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}
interface Jwks {
  readonly keys: readonly { readonly kid: string; readonly alg?: string; readonly kty: string }[];
}
interface Limits {
  readonly limit: string | null;
  readonly left: string | null;
}

/** What is outside the API: health, keys and limits are published to load balancers, gateways and clients. */
const PATHS = {
  health: "/readyz",
  jwks: "/.well-known/jwks.json",
  management: "/v1/dashboard/session",
  analytics: "/v1/analytics/events?limit=1",
} as const;

/** How this control plane is. */
export function System() {
  const health = useJson<Health>(PATHS.health);
  const jwks = useJson<Jwks>(PATHS.jwks);
  const management = useJson(PATHS.management);
  const analytics = useJson(PATHS.analytics);
  return (
    <>
      <Part title={texts.health} loaded={health}>
        {({ data }) => (
          <Rows
            heads={[texts.check, texts.status, texts.detail]}
            rows={Object.entries(data.checks).map(([name, { ok, detail }]) => [
              name,
              <Badge of={ok ? "active" : "failed"} title={ok ? texts.good : texts.bad} />,
              detail,
            ])}
          />
        )}
      </Part>
      <Part title={texts.limits} text={texts.limitsText} loaded={management}>
        {() => (
          <Rows
            heads={["", texts.limit, texts.left]}
            rows={[
              [texts.kinds.management, management.limits?.limit, management.limits?.left],
              [texts.kinds.analytics, analytics.limits?.limit, analytics.limits?.left],
            ]}
          />
        )}
      </Part>
      <Part title={texts.signingKeys} text={texts.signingText} loaded={jwks}>
        {({ data }) => (
          <>
            <Rows
              heads={[texts.keyId, texts.algorithm]}
              rows={data.keys.map(({ kid, alg, kty }) => [<code>{kid}</code>, alg ?? kty])}
            />
            <p class="quiet">
              {texts.jwks} <a href={PATHS.jwks}>{PATHS.jwks}</a>
            </p>
          </>
        )}
      </Part>
    </>
  );
}

interface LoadedJson<T> {
  readonly data?: T;
  readonly limits?: Limits;
  readonly failed?: true;
}

function useJson<T>(path: string): LoadedJson<T> {
  const [state, setState] = useState<LoadedJson<T>>({});
  useEffect(() => {
    const ended = new AbortController();
    const read = async () => {
      const answer = await fetch(path, { credentials: "same-origin", signal: ended.signal });
      const limits = {
        limit: answer.headers.get("x-ratelimit-limit"),
        left: answer.headers.get("x-ratelimit-remaining"),
      };
      setState({ data: (await answer.json()) as T, limits });
    };
    read().catch(() => {
      if (!ended.signal.aborted) setState({ failed: true });
    });
    return () => {
      ended.abort();
    };
  }, [path]);
  return state;
}

interface PartProps<T> {
  readonly title: string;
  readonly text?: string;
  readonly loaded: LoadedJson<T>;
  readonly children: (loaded: { readonly data: T }) => ComponentChildren;
}

function Part<T>({ title, text, loaded: { data, failed }, children }: PartProps<T>) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {text !== undefined && <p class="quiet">{text}</p>}
      {failed === true && (
        <p class="problem" role="alert">
          {messages.failures.unreachable}
        </p>
      )}
      {data === undefined ? failed !== true && <Loading /> : children({ data })}
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
