import { ApiFailure } from "../../api/client.ts";
import { policySets as texts } from "../../messages/policy-sets.ts";
import { Dialog } from "../../ui/parts.tsx";

/** One line about both states: what somebody saw, and what is now. */
export type Sides = readonly (readonly [label: string, seen: string, now: string])[];

/** @returns whether the API refused a change because of a change of somebody else */
export function isConflict(failure: unknown): boolean {
  return failure instanceof ApiFailure && failure.status === 412;
}

/** Shows what was there when the page was read beside what is there now. */
export function ChangedSince({
  title,
  sides,
  onClose,
}: {
  readonly title: string;
  readonly sides: Sides;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p role="alert">{texts.changedText}</p>
      <div class="scrolled" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">{texts.seen}</th>
              <th scope="col">{texts.now}</th>
            </tr>
          </thead>
          <tbody>
            {sides.map(([label, seen, now]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{seen}</td>
                <td>{seen === now ? now : <strong>{now}</strong>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p />
      <button type="button" class="main" onClick={onClose}>
        {texts.understood}
      </button>
    </Dialog>
  );
}
