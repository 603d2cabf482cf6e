/** One thing to try against a running `gatehouse up`. */
export interface DemoExample {
  readonly title: string;
  /** One line for a POSIX shell; prints status line, headers and body, or the messages of a WebSocket. */
  readonly command: string;
  readonly expect: {
    /** Status of the response; absent for a WebSocket. */
    readonly status?: number;
    /** Text that the output contains. */
    readonly body: string;
    /** Text that the output does not contain, because a rule removes it. */
    readonly absent?: string;
  };
}

/** Shell commands for the programs of the examples. */
export interface DemoCommands {
  readonly gatehouse: string;
  /** A Node.js with a WebSocket client. */
  readonly node: string;
}

/** In the checkout. */
const IN_CHECKOUT: DemoCommands = { gatehouse: "npx gatehouse", node: "npx node" };

/**
 * Examples for a new user: an allowed request, each kind of denial, then each kind of rule.
 * @param gatewayUrl e.g. `http://127.0.0.1:8000`, without a trailing slash.
 */
export function demoExamples(gatewayUrl: string, commands = IN_CHECKOUT): readonly DemoExample[] {
  return [
    ...requestExamples(gatewayUrl),
    ...answerExamples(gatewayUrl),
    ...graphqlExamples(gatewayUrl),
    ...socketExamples(gatewayUrl),
  ].map((example) => ({ ...example, command: calling(commands, example.command) }));
}

function calling({ gatehouse, node }: DemoCommands, command: string): string {
  return command
    .replaceAll(IN_CHECKOUT.gatehouse, () => gatehouse)
    .replace(new RegExp(`^${IN_CHECKOUT.node} `), () => `${node} `);
}

function requestExamples(url: string): readonly DemoExample[] {
  return [
    {
      title: "a manager reads a customer: allowed",
      command: curl(`${url}/api/customers/c-1`, as("manager")),
      expect: { status: 200, body: '"name":"Northwind Traders"' },
    },
    {
      title: "a manager deletes a customer: denied, only administrators may",
      command: curl(`${url}/api/customers/c-1`, "-X DELETE", as("manager")),
      expect: { status: 403, body: '"ACCESS_DENIED"' },
    },
    {
      title: "without a token: denied, signing in is required",
      command: curl(`${url}/api/customers/c-1`),
      expect: { status: 401, body: '"IDENTITY_REQUIRED"' },
    },
    {
      title: "a path that servers could read in two ways: refused before any rule is evaluated",
      command: curl(`${url}/admin/settings;x=1`, as("admin")),
      expect: { status: 400, body: '"AMBIGUOUS_PATH"' },
    },
    {
      title: "a forged identity header: the application sees the values from the token",
      command: curl(`${url}/api/whoami`, "-H 'x-user-role: admin'", as("viewer")),
      expect: { status: 200, body: '"x-user-role":"viewer"' },
    },
  ];
}

/** `response_filters` and `response_masks`. */
function answerExamples(url: string): readonly DemoExample[] {
  const contacts = `${url}/api/customers/c-1/contacts`;
  return [
    {
      title:
        "a manager reads contacts: numbers masked, salaries removed, phone numbers only of the manager's own contacts",
      command: curl(contacts, as("manager")),
      expect: {
        status: 200,
        body:
          '"phone":"+31 10 555 0147","ssn":"***6789","card_number":"***","internal_notes":"Pays late in December.",' +
          '"owner":"u-2"',
        absent: "salary_cents",
      },
    },
    {
      title: "a viewer reads them as lines of JSON: without notes and phone numbers",
      command: curl(`${contacts}/export`, as("viewer")),
      expect: {
        status: 200,
        body: '"phone":"ask the owner","ssn":"***1120","card_number":"***","owner":"u-1"',
        absent: "internal_notes",
      },
    },
    {
      title: "an event stream: every event is masked",
      command: curl(`${contacts}/calls?events=1`, as("manager")),
      expect: { status: 200, body: '"ssn":"***6789"', absent: "900-41-6789" },
    },
    {
      title: "an error that reveals too much: the data are removed",
      command: curl(`${contacts}/k-4`, as("manager")),
      expect: {
        status: 410,
        body: '{"error":"the contact has moved to another customer"}',
        absent: "piotr.lis@customers.example",
      },
    },
  ];
}

/** `graphql_policies`. */
function graphqlExamples(url: string): readonly DemoExample[] {
  const graphql = (query: string, role: string) =>
    curl(
      `${url}/graphql`,
      as(role),
      "-H 'content-type: application/json'",
      `-d '${JSON.stringify({ query })}'`,
    );
  return [
    {
      title: "GraphQL, a field that a viewer may not see: returned as null, with an error that says so",
      command: graphql('{ mine: customer(id: "c-1") { name tax_id } }', "viewer"),
      expect: {
        status: 200,
        body: '"mine":{"name":"Northwind Traders","tax_id":null}',
        absent: "NL-8204-7731",
      },
    },
    {
      title: "GraphQL, an alias for a denied field: denied under any name",
      command: graphql('{ customers { name } harmless: orders(customer_id: "c-3") { item } }', "viewer"),
      expect: { status: 403, body: '"path":["harmless"]', absent: "Northwind" },
    },
  ];
}

/** `websocket_policies`, and subscriptions. */
function socketExamples(url: string): readonly DemoExample[] {
  const feed = (role: string, ...messages: object[]) => socket(`${url}/ws/orders`, role, "", messages);
  return [
    {
      title: "WebSocket, orders of the user's own customer: delivered without the contact's e-mail address",
      command: feed("manager", { type: "subscribe", customer_id: "c-1" }),
      expect: {
        body: '"contact":{"name":"Iris de Vries","email":"***"',
        absent: "iris.de.vries@customers.example",
      },
    },
    {
      title: "WebSocket, orders of another customer: the message is not delivered, the connection stays open",
      command: feed("manager", { type: "subscribe", customer_id: "c-3" }, { type: "ping" }),
      expect: { body: '"ACCESS_DENIED"', absent: "order_updated" },
    },
    {
      title: "WebSocket, a message whose rule says `on_deny: close`: closed with 1008",
      command: feed("support", { type: "cancel_order", order_id: "o-1003" }),
      expect: { body: "closed 1008", absent: "order_updated" },
    },
    {
      title: "a GraphQL subscription to all orders: only permitted ones are delivered",
      command: socket(`${url}/graphql`, "support", "graphql-transport-ws", [
        { type: "connection_init" },
        {
          id: "1",
          type: "subscribe",
          payload: { query: "subscription { orderUpdated { customer_id item } }" },
        },
      ]),
      expect: { body: '{"customer_id":"c-2","item":"Pallet sensor"}', absent: '"customer_id":"c-1"' },
    },
  ];
}

function curl(url: string, ...options: string[]): string {
  return ["curl", "-si", ...options, `'${url}'`].join(" ");
}

function as(role: string): string {
  return `-H "Authorization: Bearer ${token(role)}"`;
}

function token(role: string): string {
  return `$(${IN_CHECKOUT.gatehouse} demo token --role ${role})`;
}

/**
 * A client in plain Node.js: it sends a message, waits for the response, sends the next, and disconnects after the last
 * response. It must not contain single quotes, because of the shell.
 */
const SOCKET_CLIENT = [
  "const [url, token, protocol, ...say] = process.argv.slice(1)",
  'const options = { protocols: protocol ? [protocol] : [], headers: { authorization: "Bearer " + token } }',
  "const socket = new WebSocket(url, options)",
  "const next = () => say.length ? socket.send(say.shift()) : socket.close()",
  "socket.onopen = next",
  "socket.onmessage = ({ data }) => { console.log(data); next() }",
  'socket.onclose = ({ code }) => console.log("closed", code)',
].join("; ");

/** `npx node`, because the checkout's Node.js has a WebSocket client and the one on PATH may not. */
function socket(url: string, role: string, protocol: string, messages: readonly object[]): string {
  const said = messages.map((message) => `'${JSON.stringify(message)}'`);
  const address = url.replace(/^http/, "ws");
  return [
    `${IN_CHECKOUT.node} -e`,
    `'${SOCKET_CLIENT}'`,
    `'${address}'`,
    `"${token(role)}"`,
    `'${protocol}'`,
    ...said,
  ].join(" ");
}
