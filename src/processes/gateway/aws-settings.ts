import type { AwsSettings } from "../../authorizers/index.ts";
import type { GatewayConfig } from "../../config/index.ts";

/** What the configuration states about authorizers of API Gateway. */
export function awsSettings({ authz: { aws } }: Pick<GatewayConfig, "authz">): AwsSettings {
  const { usage_identifier_header: usageIdentifierHeader } = aws;
  return {
    uncached: aws.uncached,
    decodedPaths: aws.decoded_paths,
    tokenAuthorizers: aws.token_authorizers,
    simpleResponses: aws.simple_responses,
    basePaths: aws.base_paths,
    ...(usageIdentifierHeader !== undefined && { usageIdentifierHeader }),
  };
}
