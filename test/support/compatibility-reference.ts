import { urlCases, urlFiles, type UrlCase, type UrlGroup } from "./url-cases.ts";

const HEAD = `# URLs of common frameworks

<!-- Generated from test/cases/urls by \`GATEHOUSE_UPDATE=1 npx mocha test/decision/decide/urls.test.ts\`: do not edit. -->

What happens to URLs that clients of common frameworks send. *Allowed* means that the rules decide; a URL is never
changed: the application receives the bytes that the client sent. What is refused (400) is refused because another stack
could read it in a different way than the rules do ([why](policies.md#ambiguous-requests)). The last column is the
narrowest entry of \`gateway.accept_ambiguous\` that lets it through; adapt the path to where the application is.

An entry with \`reading\` is a statement about your application: the rules see only that reading
([what to check first](policies.md#stating-how-the-application-reads-a-path)). Without it, the rules must permit every
reading.
`;

/** docs/compatibility.md, as the table of URLs has it. */
export function compatibilityReference(): string {
  const allowed = urlCases.filter(({ refused }) => refused === undefined).length;
  const count = `${urlCases.length} URLs: ${allowed} are allowed by default, ${urlCases.length - allowed} need an entry.`;
  const files = urlFiles.map(
    ({ description, groups }) => `## ${description.replace(/\.$/, "")}\n\n${table(groups)}`,
  );
  return [HEAD, `${count}\n`, ...files].join("\n");
}

function table(groups: readonly UrlGroup[]): string {
  const rows = groups.flatMap(({ framework, document, urls }) =>
    urls.map((one, index) => [index === 0 ? `[${framework}](${document})` : "", ...cells(one)]),
  );
  const lines = rows.map((row) => `| ${row.join(" | ")} |\n`);
  return `| framework | request | by default | accepted by |\n|---|---|---|---|\n${lines.join("")}`;
}

function cells({ method, target, headers, refused, accept }: UrlCase): readonly string[] {
  const sent = headers.map(([name]) => ` with \`${name}\``).join("");
  const request = `\`${method} ${target}\`${sent}`;
  if (refused === undefined || accept === undefined) return [request, "allowed", ""];
  const { path, checks, reading } = accept;
  const stated = reading === undefined ? "" : `, reading: ${reading}`;
  return [
    request,
    `refused: \`${refused}\``,
    `\`{ path: ${path.includes("{") ? `"${path}"` : path}, checks: [${checks.join(", ")}]${stated} }\``,
  ];
}
