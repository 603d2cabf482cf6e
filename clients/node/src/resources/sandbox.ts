import type {
  DeletedSandboxPerson,
  ListPeopleQuery,
  NewSandboxPerson,
  SandboxContents,
  SandboxPerson,
  SandboxSignIn,
  Tokens,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The people of the sandbox, who need no identity provider. */
export class Sandbox {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List the sandbox's people. */
  listPeople(query?: ListPeopleQuery, options?: CallOptions): List<SandboxPerson> {
    return new List(this.#transport, path`/sandbox/people`, query, options);
  }

  /** Add a person. */
  async createPerson(body: NewSandboxPerson, options?: CallOptions): Promise<SandboxPerson> {
    return this.#transport.data({ method: "POST", path: path`/sandbox/people`, body, options });
  }

  /** Remove a person. */
  async deletePerson(personId: string, options?: CallOptions): Promise<DeletedSandboxPerson> {
    return this.#transport.data({ method: "DELETE", path: path`/sandbox/people/${personId}`, options });
  }

  /** Sign in a person without a browser. */
  async signIn(body: SandboxSignIn, options?: CallOptions): Promise<Tokens> {
    return this.#transport.data({ method: "POST", path: path`/sandbox/tokens`, body, options });
  }

  /** Reset the sandbox. */
  async reset(options?: CallOptions): Promise<SandboxContents> {
    return this.#transport.data({ method: "POST", path: path`/sandbox/reset`, options });
  }
}
