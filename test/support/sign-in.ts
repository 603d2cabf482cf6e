/** A browser without a window: follows redirects, keeps cookies by origin, fills in the provider's login form. */
export interface Browser {
  /**
   * Goes to a URL and on from there, as somebody who signs in with this name, until it is sent to a URL that begins with
   * `until`, which it does not load.
   *
   * @returns that URL; or what it was shown where it was sent nowhere
   */
  walk(url: string, options: WalkOptions): Promise<Arrived>;
}

export interface WalkOptions {
  /** The name given in the login form. */
  readonly login?: string;
  readonly until: string;
}

export type Arrived =
  | { readonly kind: "sent"; readonly url: URL; readonly visited: readonly string[] }
  | {
      readonly kind: "shown";
      readonly status: number;
      readonly html: string;
      readonly visited: readonly string[];
    };

export const USER_AGENT = "Mozilla/5.0 (headless; test)";

export function createBrowser(headers: Readonly<Record<string, string>> = {}): Browser {
  const jars = new Map<string, Map<string, string>>();
  return {
    async walk(start, { login = "alice", until }) {
      const visited: string[] = [];
      let url = start;
      let form: URLSearchParams | undefined;
      for (let step = 0; step < 20; step += 1) {
        if (url.startsWith(until)) return { kind: "sent", url: new URL(url), visited };
        visited.push(url);
        const { origin } = new URL(url);
        const jar = jars.get(origin) ?? new Map<string, string>();
        jars.set(origin, jar);
        const answer = await fetch(url, {
          redirect: "manual",
          headers: {
            accept: "text/html,application/xhtml+xml",
            "user-agent": USER_AGENT,
            ...headers,
            cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
          },
          ...(form !== undefined && { method: "POST", body: form }),
        });
        form = undefined;
        keep(jar, answer.headers.getSetCookie());
        const html = await answer.text();
        const location = answer.headers.get("location");
        const action = /<form method="post" action="([^"]+)">/.exec(html)?.[1];
        if (location !== null) url = new URL(location, url).href;
        else if (action !== undefined) {
          url = new URL(action, url).href;
          form = new URLSearchParams({ login });
        } else return { kind: "shown", status: answer.status, html, visited };
      }
      throw new Error(`the browser goes round in circles: ${visited.join(" ")}`);
    },
  };
}

function keep(jar: Map<string, string>, cookies: readonly string[]): void {
  for (const cookie of cookies) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (name === undefined || value === undefined) continue;
    if (value === "" || /expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
    else jar.set(name, value);
  }
}
