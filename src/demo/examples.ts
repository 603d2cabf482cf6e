/** One thing to try against a running `gatehouse up`. */
export interface DemoExample {
  readonly title: string;
  /** One line for a POSIX shell; prints status line, headers and body. */
  readonly command: string;
  readonly expect: {
    readonly status: number;
    /** Stands in the answer's body. */
    readonly body: string;
  };
}

/**
 * What a newcomer tries first: an allow, and each kind of denial.
 * @param gatewayUrl e.g. `http://127.0.0.1:8000`, without a trailing slash.
 */
export function demoExamples(gatewayUrl: string): readonly DemoExample[] {
  const curl = (path: string, ...options: string[]) =>
    ["curl", "-si", ...options, `'${gatewayUrl}${path}'`].join(" ");
  const as = (role: string) => `-H "Authorization: Bearer $(npx gatehouse demo token --role ${role})"`;

  return [
    {
      title: "a manager reads a customer: allowed",
      command: curl("/api/customers/c-1", as("manager")),
      expect: { status: 200, body: '"name":"Northwind Traders"' },
    },
    {
      title: "a manager deletes one: denied, only administrators may",
      command: curl("/api/customers/c-1", "-X DELETE", as("manager")),
      expect: { status: 403, body: '"ACCESS_DENIED"' },
    },
    {
      title: "nobody signed in: a token is required",
      command: curl("/api/customers/c-1"),
      expect: { status: 401, body: '"IDENTITY_REQUIRED"' },
    },
    {
      title: "a path that two servers could read in two ways: refused before any rule is looked at",
      command: curl("/admin/settings;x=1", as("admin")),
      expect: { status: 400, body: '"AMBIGUOUS_PATH"' },
    },
    {
      title: "a forged identity header: the application sees what the token says",
      command: curl("/api/whoami", "-H 'x-user-role: admin'", as("viewer")),
      expect: { status: 200, body: '"x-user-role":"viewer"' },
    },
  ];
}
