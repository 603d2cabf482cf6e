import { Link } from "wouter-preact";
import { may } from "../../api/client.ts";
import { messages } from "../../messages/index.ts";
import { Page } from "../../shell.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { Account } from "./account.tsx";
import { Team } from "./team.tsx";
import { System } from "./system.tsx";

const texts = messages.settings;
const TABS = ["people", "account", "system"] as const;

/** Who may use the dashboard, the own account, and how the control plane is. */
export function Settings() {
  const { values } = useUrlState();
  const offered = TABS.filter((name) => name !== "people" || may("team"));
  const tab = offered.find((name) => name === values["tab"]) ?? offered[0] ?? "account";
  return (
    <Page title={texts.title}>
      <nav class="row card" aria-label={texts.tabs.label}>
        {offered.map((name) => (
          <Link
            key={name}
            class={name === tab ? "button main" : "button"}
            href={`/settings?tab=${name}`}
            aria-current={name === tab ? "true" : undefined}
          >
            {texts.tabs[name]}
          </Link>
        ))}
      </nav>
      <section aria-label={texts.tabs[tab]}>
        {tab === "people" && <Team />}
        {tab === "account" && <Account />}
        {tab === "system" && <System />}
      </section>
    </Page>
  );
}
