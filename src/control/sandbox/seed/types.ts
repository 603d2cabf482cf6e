import type { NewPerson } from "../people.ts";

/** What a fresh sandbox is filled with, as far as it is not the sandbox's own. */
export interface SandboxSeed {
  /** The staff of the first customer. */
  readonly people?: readonly SeedPerson[];
  /** A folder with a policy set that is published. */
  readonly policies?: { readonly directory: string; readonly policySet: string };
}

export type SeedPerson = Omit<NewPerson, "customer_id">;
