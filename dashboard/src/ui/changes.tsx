import { messages } from "../messages/index.ts";

const texts = messages.changes;
type Members = Readonly<Record<string, unknown>>;

interface ChangesProps {
  readonly before: Members | undefined;
  readonly after: Members | undefined;
  readonly titles?: readonly [before: string, after: string];
}

/** What differs between two versions of something, member by member. */
export function Changes({ before, after, titles = [texts.before, texts.after] }: ChangesProps) {
  const [old, now] = [flat(before), flat(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => old.get(name) !== now.get(name),
  );
  if (names.length === 0) return <p class="quiet">{texts.none}</p>;
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label={texts.title}>
      <table>
        <caption class="hidden">{texts.title}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.member}</th>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{cell(old.get(name))}</td>
              <td>{cell(now.get(name))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cell(text: string | undefined) {
  return text === undefined ? <span class="quiet">{texts.absent}</span> : <code>{text}</code>;
}

/** Every member that is not an object, by its path. */
function flat(value: Members | undefined, path = "", into = new Map<string, string>()): Map<string, string> {
  for (const [name, member] of Object.entries(value ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    if (typeof member === "object" && member !== null && !Array.isArray(member))
      flat(member as Members, at, into);
    else into.set(at, JSON.stringify(member));
  }
  return into;
}
