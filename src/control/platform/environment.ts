/** Production and sandbox are separate: databases, keys, ports, issuers. */
export const ENVIRONMENTS = ["production", "sandbox"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
