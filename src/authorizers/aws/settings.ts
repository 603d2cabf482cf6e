/** What the operator states about the authorizers; see `authz.aws` in docs/configuration.md. */
export interface AwsSettings {
  /** Their answers are not cached. */
  readonly uncached: boolean;
  /** Integrations of HTTP APIs read the path that API Gateway has decoded. */
  readonly decodedPaths: boolean;
  /** TOKEN authorizers are answered, which do not see the headers. */
  readonly tokenAuthorizers: boolean;
  /** Format 2.0 is answered with `isAuthorized`. */
  readonly simpleResponses: boolean;
  /** Of custom domains; each begins with a slash. */
  readonly basePaths: readonly string[];
  /** The identity header whose value is sent as `usageIdentifierKey`. */
  readonly usageIdentifierHeader?: string;
}
