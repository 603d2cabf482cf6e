/** The part of oidc-provider 9 that the tests use; the package has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly IdToken: new (
      claims: object,
      context: { client: object | undefined; ctx: undefined },
    ) => {
      scope: string;
      issue(options: { use: "idtoken" | "logout" }): Promise<string>;
    };
  }
}
