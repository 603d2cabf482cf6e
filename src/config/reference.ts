import { CONFIG_KEYS } from "./keys.ts";
import type { ConfigKey } from "./keys.ts";

/** The reference page of gateway.yaml as Markdown: the content of docs/configuration.md. */
export function configReference(): string {
  const sections = Map.groupBy(CONFIG_KEYS, (key) => key.path[0] ?? "");
  const parts = [...sections].map(
    ([section, keys]) => `## ${section}\n\n${keys.map(describeKey).join("\n")}`,
  );
  return `${[INTRODUCTION, ...parts].join("\n\n")}\n`;
}

function describeKey(key: ConfigKey): string {
  const value = key.required === true ? "required" : defaultText(key);
  const facts = [key.type.name, ...(value === undefined ? [] : [value]), `\`${key.variable}\``];
  return `- **\`${key.name}\`** (${facts.join("; ")})  \n  ${key.description}`;
}

/** Undefined if the description states the default. */
function defaultText({ description, fallback }: ConfigKey): string | undefined {
  if (/\bDefault: /.test(description)) return undefined;
  return fallback === undefined ? "no default" : `default \`${yamlText(fallback)}\``;
}

function yamlText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(yamlText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${name}: ${yamlText(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

const INTRODUCTION = `# Configuration

<!-- Generated from src/config by \`GATEHOUSE_UPDATE=1 npx mocha test/config/reference.test.ts\`: do not edit. -->

\`gateway.yaml\` contains the keys below. Sections, and keys that are not required, may be omitted. The smallest file:

\`\`\`yaml
gateway:
  backend: http://127.0.0.1:3000
identity:
  issuer: https://login.example.com
  audience: my-application
\`\`\`

- Durations are written as \`250ms\`, \`30s\`, \`5m\`, \`1h\`; sizes as \`10MB\` (10^6 bytes each) or \`10MiB\` (2^20).
- Paths are relative to the folder of the file.
- Each key can be set by the environment variable listed with it, which takes precedence over the file. An empty variable
  counts as not set; lists are comma-separated or JSON, maps are JSON.
  - Unknown keys and variables prevent the start; the error names the place and the nearest known name.`;
