export { tokenOfConnection } from "./connection-params.ts";
export { credentialPatterns, LONGEST_COOKIE_NAME, type CredentialPattern } from "./credential-patterns.ts";
export {
  extractToken,
  isAmbient,
  type ExtractedToken,
  type ExtractOptions,
  type PresentedToken,
} from "./extract-token.ts";
export { ALB_HEADER, PROTOCOL_HEADER, tokenHeaders, type TokenSources } from "./token-sources.ts";
export { readProtocols } from "./websocket-protocol.ts";
export { createAlbVerifier, type AlbOptions } from "./alb-verifier.ts";
export { createApiKeyVerifier, isApiKey, type KeyOfCaller } from "./api-key-verifier.ts";
export { isAlbArn } from "./alb-signer.ts";
export { keysCheck } from "./key-check.ts";
export type { KeyStoreStatus } from "./key-store.ts";
export { ALGORITHMS, type Algorithm, type IdentityOptions } from "./options.ts";
export { DEFAULT_CLAIMS } from "./claims.ts";
export type { Identity, IdentityFailure, IdentityResult, TokenVerifier } from "./types.ts";
export { createTokenVerifier, type RunningTokenVerifier, type VerifierDependencies } from "./verifier.ts";
