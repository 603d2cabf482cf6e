import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { may } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Copyable } from "../ui/parts.tsx";

const texts = messages.first;
/** How soon a new decision shows. */
const EVERY_MS = 2_000;

const START = "npx gatehouse gateway";
const REQUEST = "curl -i http://127.0.0.1:8000/";

/** From nothing to the first decision: each step shows when it is done, without a reload. */
export function FirstSteps({ onDone }: { readonly onDone: () => void }) {
  const customers = useQuery("/customers", { query: { limit: 1 }, every: EVERY_MS });
  const keys = useQuery("/api-keys", {
    query: { limit: 1, scope: "gateway", status: "active" },
    every: EVERY_MS,
    off: !may("keys"),
  });
  const gateways = useQuery("/gateways", { query: { limit: 1 }, every: EVERY_MS });
  const decisions = useQuery("/audit/logs", { query: { kind: "decision", limit: 1 }, every: EVERY_MS });
  const has = (loaded: { readonly answer: { readonly data: readonly unknown[] } | undefined }) =>
    (loaded.answer?.data.length ?? 0) > 0;
  const here = has(decisions);
  return (
    <Page title={texts.title}>
      <div class="card">
        <p>{texts.lead}</p>
        <ol class="steps">
          <Step title={texts.customer} text={texts.customerText} done={has(customers)}>
            {may("configure") && (
              <Link class="button" href="/customers?new=1">
                {texts.customerAction}
              </Link>
            )}
          </Step>
          <Step title={texts.key} text={texts.keyText} done={has(keys) || has(gateways)}>
            {may("keys") && (
              <Link class="button" href="/keys?new=gateway">
                {texts.keyAction}
              </Link>
            )}
          </Step>
          <Step title={texts.gateway} text={texts.gatewayText} done={has(gateways)}>
            <Copyable text={gatewayFile(location.origin)} label={texts.gatewayFile} />
            <Copyable text={START} label={texts.gatewayStart} />
          </Step>
          <Step title={texts.request} text={texts.requestText} done={here}>
            <Copyable text={REQUEST} label={texts.requestCommand} />
          </Step>
        </ol>
        <p class={here ? "waiting here" : "waiting"} role="status">
          {here ? texts.here : texts.waiting}
        </p>
        {here && (
          <button type="button" class="main" onClick={onDone}>
            {texts.show}
          </button>
        )}
      </div>
    </Page>
  );
}

function gatewayFile(url: string): string {
  return `gateway:
  listen_port: 8000
  backend: http://127.0.0.1:3000
  cluster:
    coordination: control_plane
control_plane:
  url: ${url}
  api_key_file: gateway.key
identity:
  issuer: ${url}
policies:
  directory: policies
audit:
  destination: control_plane
`;
}

interface StepProps {
  readonly title: string;
  readonly text: string;
  readonly done: boolean;
  readonly children: ComponentChildren;
}

function Step({ title, text, done, children }: StepProps) {
  return (
    <li class={done ? "done" : undefined}>
      <h2>{title}</h2>
      <p class="quiet">{text}</p>
      {children}
    </li>
  );
}
