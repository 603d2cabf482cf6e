/** A golden case: a comment, and named parts. The format is that of Go's txtar: `-- name --` begins a part. */
export interface Archive {
  readonly comment: string;
  readonly parts: ReadonlyMap<string, string>;
}

export function parseArchive(text: string): Archive {
  const [comment = "", ...rest] = text.split(/^-- (.+) --\n/m);
  const parts = new Map<string, string>();
  for (let at = 0; at < rest.length; at += 2) parts.set(rest[at] ?? "", rest[at + 1] ?? "");
  return { comment, parts };
}

export function printArchive({ comment, parts }: Archive): string {
  return comment + [...parts].map(([name, text]) => `-- ${name} --\n${text}`).join("");
}
