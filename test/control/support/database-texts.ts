import type { Database } from "../../../src/storage/index.ts";

/** Every row of every table as text, with what table it is of: where something is looked for that must be nowhere. */
export async function databaseTexts(db: Database): Promise<string[]> {
  const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by 1`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.raw<{ rows: { text: string }[] }>("select t::text as text from ?? as t", [
      name,
    ]);
    texts.push(...rows.map(({ text }) => `${name}: ${text}`));
  }
  return texts.sort();
}

/** The rows that hold one of these texts, in whatever letter case. */
export async function rowsWith(db: Database, secrets: readonly string[]): Promise<string[]> {
  const found = await databaseTexts(db);
  return found.filter((text) => secrets.some((secret) => text.toLowerCase().includes(secret.toLowerCase())));
}
