import type {
  CodeExchange,
  Logout,
  LogoutRequest,
  SignInRequest,
  StartedSignIn,
  TokenRefresh,
  Tokens,
} from "../api.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Signing users in. `SignIn` does these steps with the checks between them. */
export class Auth {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Start a sign-in. */
  async authorize(body: SignInRequest, options?: CallOptions): Promise<StartedSignIn> {
    return this.#transport.data({ method: "POST", path: path`/auth/authorize`, body, options });
  }

  /** Exchange a code for tokens. */
  async exchange(body: CodeExchange, options?: CallOptions): Promise<Tokens> {
    return this.#transport.data({ method: "POST", path: path`/auth/token`, body, options });
  }

  /** Exchange a refresh token for new tokens. */
  async refresh(body: TokenRefresh, options?: CallOptions): Promise<Tokens> {
    return this.#transport.data({ method: "POST", path: path`/auth/refresh`, body, options });
  }

  /** End sessions. */
  async logout(body?: LogoutRequest, options?: CallOptions): Promise<Logout> {
    return this.#transport.data({ method: "DELETE", path: path`/auth/logout`, body, options });
  }
}
