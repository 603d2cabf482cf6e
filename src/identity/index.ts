export { credentialPatterns, LONGEST_COOKIE_NAME, type CredentialPattern } from "./credential-patterns.ts";
export { extractToken, type ExtractedToken, type ExtractOptions } from "./extract-token.ts";
export { keysCheck } from "./key-check.ts";
export type { KeyStoreStatus } from "./key-store.ts";
export { ALGORITHMS, type Algorithm, type IdentityOptions } from "./options.ts";
export { DEFAULT_CLAIMS } from "./claims.ts";
export type { Identity, IdentityFailure, IdentityResult, TokenVerifier } from "./types.ts";
export { createTokenVerifier, type RunningTokenVerifier, type VerifierDependencies } from "./verifier.ts";
