import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { ApiFailure, call } from "../../api/client.ts";
import { useAction } from "../../api/use-action.ts";
import type { Checked, SourceSet } from "../../core/protocol.ts";
import { useLongTask } from "../../editor/use-core.ts";
import type { OpenDraft } from "../../editor/use-draft.ts";
import { editor as texts } from "../../messages/editor.ts";
import { messages } from "../../messages/index.ts";
import { policySets as setTexts } from "../../messages/policy-sets.ts";
import { Dialog, Field, FormFailure, NamedEnvironment, announce } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { Meaning, TextChanges } from "./compare-panel.tsx";
import { isConflict } from "./conflict.tsx";
import type { Published } from "./editing.tsx";
import { withVersion } from "./with-version.ts";
import type { LoadedSet } from "./versions.tsx";

const THEN = ["nothing", "activate", "rollout"] as const;

/** What kept the set from being published or activated, with the version that is in the way. */
type Obstacle =
  | { readonly kind: "version used"; readonly theirs: Published }
  | {
      readonly kind: "changed";
      readonly version: string;
      readonly theirs: Published;
      readonly etag: string | null;
    };

interface PublishProps {
  readonly name: string;
  readonly open: OpenDraft;
  readonly compiled: NonNullable<Checked["set"]>;
  readonly set: LoadedSet | undefined;
  readonly active: Published | undefined;
  readonly onPublished: () => void;
  readonly onClose: () => void;
}

/** Publishes the draft, after a look at what it changes; then activates it, or starts a rollout. */
export function Publish({ name, open, compiled, set, active, onPublished, onClose }: PublishProps) {
  const { draft } = open;
  const { version } = compiled;
  const [, navigate] = useLocation();
  const { run, busy, failure } = useAction();
  const comparison = useLongTask("compare");
  const [obstacle, setObstacle] = useState<Obstacle>();
  const mine: SourceSet = { name, files: draft.files };
  const compareWith = (theirs: Published) =>
    void comparison.run({ before: { name, files: theirs.files }, after: mine });
  useEffect(() => {
    if (active) compareWith(active);
  }, []);
  const finish = (activated: boolean) => {
    announce(activated ? setTexts.activated(version) : texts.published(`${name}@${version}`));
    onPublished();
    onClose();
  };
  const activate = async (etag: string | null) => {
    try {
      await call("post", "/policy-sets/{name}/activate", {
        params: { name },
        body: { version },
        ifMatch: etag,
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const now = await call("get", "/policy-sets/{name}", { params: { name } });
      const theirs = await versionOf(name, now.data.active_version ?? version);
      setObstacle({ kind: "changed", version: theirs.version, theirs, etag: now.etag });
      compareWith(theirs);
      return;
    }
    finish(true);
  };
  const publish = (form: HTMLFormElement) =>
    run(async () => {
      const then = THEN.find((one) => one === readForm(form).text("then"));
      try {
        await call("post", "/policy-sets", { body: { name, files: [...draft.files], activate: false } });
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== "VERSION_IMMUTABLE") throw error;
        const theirs = await versionOf(name, version);
        setObstacle({ kind: "version used", theirs });
        return;
      }
      open.settle(version);
      if (then === "activate") {
        // publishing changes the ETag of the set: versions published meanwhile do not matter, another active one does
        await activate(await etagIfActive(name, set?.data.active_version ?? null));
        return;
      }
      finish(false);
      if (then === "rollout")
        navigate(`/policy-sets/${encodeURIComponent(name)}?tab=rollout&start=${encodeURIComponent(version)}`);
    });
  if (obstacle?.kind === "version used")
    return <VersionUsed version={version} theirs={obstacle.theirs} open={open} onClose={onClose} />;
  return (
    <Dialog title={texts.publishTitle(`${name}@${version}`)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (obstacle) void run(() => activate(obstacle.etag));
          else void publish(event.currentTarget);
        }}
      >
        {obstacle ? (
          <div role="alert">
            <h3>{texts.changedTitle}</h3>
            <p>
              {texts.publishedButNotActive(version)} {texts.changedText(version, obstacle.version)}
            </p>
          </div>
        ) : (
          <p>{texts.publishText}</p>
        )}
        <h3>
          {active || obstacle
            ? texts.comparedTitle(obstacle?.version ?? active?.version ?? "")
            : texts.nothingActive}
        </h3>
        <Meaning state={comparison.state} cancel={comparison.cancel} />
        {obstacle && <TextChanges before={obstacle.theirs.files} after={draft.files} />}
        {!obstacle && (
          <Field name="then" label={texts.then} failure={failure}>
            {(given) => (
              <select {...given}>
                <option value="nothing">{texts.thenNothing}</option>
                <option value="activate">{texts.thenActivate}</option>
                {active && <option value="rollout">{texts.thenRollout}</option>}
              </select>
            )}
          </Field>
        )}
        <NamedEnvironment />
        <FormFailure failure={failure} fields={[]} />
        <div class="row">
          <button type="submit" class={obstacle ? "danger" : "main"} aria-disabled={busy}>
            {obstacle ? texts.activateAnyway(version) : texts.publish}
          </button>
          <button
            type="button"
            onClick={() => {
              if (obstacle) onPublished();
              onClose();
            }}
          >
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface VersionUsedProps {
  readonly version: string;
  readonly theirs: Published;
  readonly open: OpenDraft;
  readonly onClose: () => void;
}

/** A version never changes: somebody else, or an earlier self, has published other content under it. */
function VersionUsed({ version, theirs, open, onClose }: VersionUsedProps) {
  const [next, setNext] = useState("");
  return (
    <Dialog title={texts.versionUsed(version)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const changed = withVersion(open.draft.files, next);
          open.replace(changed.name, changed.text);
          onClose();
        }}
      >
        <p role="alert">{texts.versionUsedText}</p>
        <TextChanges before={theirs.files} after={open.draft.files} />
        <Field name="version" label={texts.nextVersion}>
          {(given) => (
            <input
              {...given}
              required
              pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
              maxLength={100}
              autocomplete="off"
              value={next}
              onInput={({ currentTarget }) => {
                setNext(currentTarget.value.trim());
              }}
            />
          )}
        </Field>
        <div class="row">
          <button type="submit" class="main" disabled={next === "" || next === version}>
            {texts.useVersion(next)}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

async function versionOf(name: string, version: string): Promise<Published> {
  const { data } = await call("get", "/policy-sets/{name}/versions/{version}", { params: { name, version } });
  return data;
}

/** No set has it. */
const OUTDATED = '"outdated"';

/** @returns the ETag of the set if the version that was looked at is still active, or else one that the API refuses */
async function etagIfActive(name: string, active: string | null): Promise<string | null> {
  const { data, etag } = await call("get", "/policy-sets/{name}", { params: { name } });
  return data.active_version === active ? etag : OUTDATED;
}
