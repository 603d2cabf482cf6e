import type { PolicyFile } from "../../../src/policy/index.ts";

/** A set of one rule, which tells one version from another by what it asks for. */
export function setOf(version: string, role = "admin"): PolicyFile[] {
  return [
    {
      name: "main.yaml",
      text: `version: ${version}\npolicies:\n  - resource: "GET /a"\n    condition: user.role == "${role}"\n`,
    },
  ];
}

/** A set of one file. */
export function yaml(text: string): PolicyFile[] {
  return [{ name: "main.yaml", text }];
}
