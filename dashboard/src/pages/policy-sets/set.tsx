import { Link } from "wouter-preact";
import { useQuery } from "../../api/use-query.ts";
import { readDraft } from "../../editor/drafts.ts";
import { policySets as texts } from "../../messages/policy-sets.ts";
import { Page } from "../../shell.tsx";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { PendingPage } from "../../ui/pending-page.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { SetHistory } from "./history.tsx";
import { Rollout } from "./rollout.tsx";
import { Versions } from "./versions.tsx";

const TABS = ["versions", "edit", "rollout", "history"] as const;

const EditSet = lazyPage(async () => (await import("./edit.tsx")).EditSet);

/** One policy set. Its tab is in the address. */
export function PolicySet({ name }: { readonly name: string }) {
  const { values } = useUrlState();
  const tab = TABS.find((one) => one === values["tab"]) ?? "versions";
  const { answer, failure, reload } = useQuery("/policy-sets/{name}", { params: { name } });
  // a set that was never published is what is in the editor
  const isNew = failure?.status === 404 && (values["new"] === "1" || readDraft(name) !== undefined);
  if ((failure || !answer) && !isNew) return <PendingPage title={name} failure={failure} retry={reload} />;
  return (
    <Page title={name}>
      {!isNew && (
        <nav class="row card" aria-label={texts.tabs.label}>
          {TABS.map((one) => (
            <Link
              key={one}
              class={one === tab ? "button main" : "button"}
              href={`/policy-sets/${encodeURIComponent(name)}${one === "versions" ? "" : `?tab=${one}`}`}
              aria-current={one === tab ? "true" : undefined}
            >
              {texts.tabs[one]}
            </Link>
          ))}
        </nav>
      )}
      <section aria-label={texts.tabs[isNew ? "edit" : tab]}>
        {isNew || tab === "edit" ? (
          <EditSet
            // another version is another editor
            key={values["from"] ?? ""}
            name={name}
            set={isNew ? undefined : answer}
            from={values["from"]}
            onPublished={reload}
          />
        ) : (
          answer &&
          (tab === "versions" ? (
            <Versions name={name} set={answer} reload={reload} />
          ) : tab === "rollout" ? (
            <Rollout name={name} activeVersion={answer.data.active_version} reload={reload} />
          ) : (
            <SetHistory name={name} />
          ))
        )}
      </section>
    </Page>
  );
}
