import { secureUrl } from "./secure-url.ts";

/** A load balancer that may sign tokens. */
export interface AlbSigner {
  readonly arn: string;
  /** @param kid - in the form of a UUID */
  keyUrl(kid: string): URL;
}

const ARN =
  /^arn:(?<partition>aws|aws-us-gov):elasticloadbalancing:(?<region>[a-z]{2}(?:-[a-z]+)+-\d):\d{12}:loadbalancer\/app\/[A-Za-z0-9-]{1,32}\/[0-9a-f]{16}$/;

/**
 * The address of a signer's keys follows from its ARN in the configuration, never from a token.
 *
 * @param keysUrl - address under which the keys of all signers are; default: the one of AWS for the region
 * @throws TypeError for another ARN than that of an Application Load Balancer
 */
export function readAlbSigner(arn: string, keysUrl?: string): AlbSigner {
  const { partition, region = "" } = ARN.exec(arn)?.groups ?? {};
  if (partition === undefined)
    throw new TypeError(`\`${arn}\` is not the ARN of an Application Load Balancer of AWS or AWS GovCloud`);
  const base =
    keysUrl ??
    (partition === "aws"
      ? `https://public-keys.auth.elb.${region}.amazonaws.com`
      : `https://s3-${region}.amazonaws.com/aws-elb-public-keys-prod-${region}`);
  const { href } = secureUrl("keys_url", base);
  return { arn, keyUrl: (kid) => new URL(`${href.replace(/\/$/, "")}/${kid}`) };
}

export function isAlbArn(text: string): boolean {
  return ARN.test(text);
}
