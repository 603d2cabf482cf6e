import type { PolicyFile } from "../../core/protocol.ts";

const LINE = /^version\s*:.*$/m;

/** @returns the file that says the set's version, with another one; the first file if none says it */
export function withVersion(files: readonly PolicyFile[], version: string): PolicyFile {
  const line = `version: ${JSON.stringify(version)}`;
  const saying = files.find(({ text }) => LINE.test(text));
  if (saying !== undefined) return { name: saying.name, text: saying.text.replace(LINE, () => line) };
  const first = files.find(({ name }) => /\.ya?ml$/.test(name)) ?? { name: "main.yaml", text: "" };
  return { name: first.name, text: `${line}\n${first.text}` };
}
