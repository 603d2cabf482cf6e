// Runs the shared cases with the library for Node.js: node run.mjs <world.json> <cases.json> <real|fake>
// Prints a line of JSON for each case: { name, environment, problem }. See clients/cases/README.md.
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import * as library from "gatehouse-access";

const [worldFile, casesFile, mode] = process.argv.slice(2);
const world = JSON.parse(readFileSync(worldFile, "utf8"));
const cases = JSON.parse(readFileSync(casesFile, "utf8"));
const { FakeGatehouse } = mode === "fake" ? await import("gatehouse-access/testing") : {};

const OPTIONS = {
  idempotency_key: "idempotencyKey",
  if_match: "ifMatch",
  max_retries: "maxRetries",
  timeout_ms: "timeoutMs",
};
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

for (const one of cases) {
  for (const environment of mode === "fake" ? ["fake"] : one.on.filter((where) => where !== "fake")) {
    if (mode === "fake" && !one.on.includes("fake")) continue;
    const problem = await runCase(one, environment).then(
      () => null,
      (error) => error.stack,
    );
    console.log(JSON.stringify({ name: one.name, environment, problem }));
  }
}

async function runCase({ steps }, environment) {
  const fake = mode === "fake" ? new FakeGatehouse() : undefined;
  const saved = {
    unique: randomBytes(5).toString("hex"),
    receiver: world.receiver,
    issuer: world.environments[environment]?.issuer,
    now: Math.floor(Date.now() / 1000),
    time: new Date().toISOString(),
  };
  if (fake === undefined) {
    await stage("/faults", { environment, faults: [] });
    await stage("/receiver", {});
  }
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(resolve(step, saved), { environment, fake, saved });
    } catch (error) {
      error.message = `step ${index + 1} (${JSON.stringify(step)}): ${error.message}`;
      error.stack = `${error.message}\n${error.stack
        .split("\n")
        .filter((line) => line.startsWith("    at"))
        .join("\n")}`;
      throw error;
    }
  }
}

async function runStep(step, context) {
  const until = Date.now() + 20_000;
  for (;;) {
    try {
      return await tryStep(step, context);
    } catch (error) {
      if (!step.eventually || Date.now() > until) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

async function tryStep(step, context) {
  const { environment, saved } = context;
  if (step.faults !== undefined) await stage("/faults", { environment, faults: step.faults });
  let response;
  let failure;
  let value;
  try {
    value = await perform(step, context, (seen) => (response = seen));
  } catch (error) {
    if (!(error instanceof library.GatehouseError)) throw error;
    failure = error;
  }
  if (step.error !== undefined) checkError(failure, step.error);
  else if (failure !== undefined) throw failure;
  if (step.expect !== undefined) check(value, step.expect, "result");
  if (step.response !== undefined) check(plainResponse(response), step.response, "response");
  if (step.requests !== undefined) await checkRequests(step.requests, environment);
  if (step.save !== undefined) saved[step.save] = value;
  if (step.save_response !== undefined) saved[step.save_response] = plainResponse(response);
}

async function perform(step, { environment, fake }, onResponse) {
  if (step.call !== undefined) return call(step, environment, fake, onResponse);
  if (step.follow !== undefined) return follow(step, clientOf(step, environment, fake));
  if (step.stage !== undefined) return stage(`/${step.stage}`, step.with ?? {});
  if (step.verify_webhook !== undefined) {
    const { tolerance_seconds, now, ...delivery } = step.verify_webhook;
    return library.verifyWebhook({
      ...delivery,
      ...(tolerance_seconds !== undefined && { toleranceSeconds: tolerance_seconds }),
      ...(now !== undefined && { now: now * 1000 }),
    });
  }
  if (step.verify_token !== undefined) {
    const { token, ...options } = step.verify_token;
    return new library.TokenVerifier(options).verify(token);
  }
  if (step.start_session !== undefined)
    return startSession(step.start_session, clientOf(step, environment, fake), fake);
  if (step.sign_in !== undefined) return signIn(step, clientOf(step, environment, fake), environment);
  throw new Error("nothing to do");
}

function signIn({ sign_in: verb, args }, gatehouse, environment) {
  const { issuer } = world.environments[environment] ?? { issuer: "https://issuer.example" };
  const helper = new library.SignIn(gatehouse, new library.TokenVerifier({ issuer }));
  if (verb === "finish") {
    const { callback, state, customer_id: customerId } = args[0];
    return helper.finish({ callback, state, customerId });
  }
  return helper[verb](...args);
}

/** In the fake nobody signs in: the user is there, and has a session. */
async function startSession({ customer_id, email, name }, gatehouse, fake) {
  if (fake !== undefined) {
    const { id } = await gatehouse.users.create(customer_id, { subject: email, email, name });
    return { user_id: id, session_id: fake.addSession(id) };
  }
  const { user, session } = await gatehouse.sandbox.signIn({ customer_id, person: { email, name } });
  return { user_id: user.id, session_id: session.id };
}

/** Follows the feed until so many events were there, one answer at least. */
async function follow({ follow: query, take }, gatehouse) {
  const events = [];
  const retried = [];
  const options = {
    pollMs: 200,
    signal: AbortSignal.timeout(60_000),
    onRetry: (error) => retried.push(error.name),
  };
  for await (const batch of gatehouse.events.follow(query, options)) {
    events.push(...batch.events);
    if (events.length >= take) return { events, cursor: batch.cursor, retried };
  }
  throw new Error("the feed ended");
}

async function call(step, environment, fake, onResponse) {
  const gatehouse = clientOf(step, environment, fake);
  const [resource, method] = step.call.split(".").map(camel);
  const options = { onResponse };
  for (const [name, value] of Object.entries(step.options ?? {})) options[OPTIONS[name]] = value;
  const target = gatehouse[resource];
  const args = [...(step.args ?? [])];
  // the options come last, whatever is left out before them
  while (args.length < target[method].length - 1) args.push(undefined);
  const result = target[method](...args, options);
  if (step.all === true) {
    const items = [];
    for await (const item of result) items.push(item);
    return items;
  }
  const value = await result;
  return value instanceof library.Page ? { data: value.data, pagination: value.pagination } : value;
}

function clientOf({ as = "full", client = {} }, environment, fake) {
  if (fake !== undefined) return fake.client();
  const { url, keys, session } = world.environments[environment];
  const { timeout_ms: timeoutMs, attempt_timeout_ms: attemptTimeoutMs, base_url: baseUrl } = client;
  return new library.Gatehouse({
    environment,
    baseUrls: { [environment]: baseUrl ?? url },
    ...(as === "session"
      ? { dashboardSession: { cookie: session.cookie, csrfToken: session.csrf_token } }
      : { apiKey: keys[as] ?? as }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
  });
}

async function stage(path, body) {
  const answer = await fetch(`${world.stage}${path}`, { method: "POST", body: JSON.stringify(body) });
  const result = await answer.json();
  if (result.error !== undefined) throw new Error(`${path}: ${result.error}`);
  return result;
}

async function checkRequests(expected, environment) {
  const { requests } = await stage("/requests", { environment });
  if (expected.count !== undefined) check(requests.length, expected.count, "requests");
  if (expected.same_idempotency_key === true) {
    const keys = new Set(requests.map((request) => request.idempotency_key));
    if (keys.size !== 1 || keys.has(null)) throw new Error(`idempotency keys: ${[...keys].join()}`);
  }
}

function checkError(failure, { kind, fields, ...rest }) {
  if (failure === undefined) throw new Error("no error");
  if (kind !== undefined && !(failure instanceof library[kind]))
    throw new Error(`${failure.constructor.name} (${failure.message}) is not ${kind}`);
  const plain = {
    code: failure.code,
    status: failure.status,
    details: failure.details,
    reason: failure.reason,
  };
  check(plain, rest, "error");
  if (rest.status !== undefined && failure.requestId === undefined) throw new Error("no request id");
  if (fields !== undefined) check(failure.fields.map(({ path }) => path).sort(), fields, "fields");
}

function plainResponse(response) {
  if (response === undefined) return undefined;
  const { rateLimit, requestId, status, etag, attempts, warnings } = response;
  return {
    ...{ status, etag, attempts, request_id: requestId, warnings },
    rate_limit: rateLimit && { limit: rateLimit.limit, remaining: rateLimit.remaining },
  };
}

/** Puts what was saved in the place of `$name.member`; within a longer text, `${name.member}`. */
function resolve(value, saved) {
  if (typeof value === "string") {
    const whole = /^\$([a-z]\w*(?:\.\w+)*)$/.exec(value)?.[1];
    if (whole !== undefined) return look(whole, saved);
    return value.replace(/\$\{([\w.]+)\}/g, (_, path) => look(path, saved));
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, saved));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, saved)]));
}

function look(path, saved) {
  const found = path.split(".").reduce((value, name) => value?.[name], saved);
  if (found === undefined) throw new Error(`nothing is saved as ${path}`);
  return found;
}

/** An object must have the members that are expected, with these values; anything else must be equal. */
function check(actual, expected, where) {
  const fail = () => {
    throw new Error(`${where} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) fail();
    for (const [index, item] of expected.entries()) check(actual[index], item, `${where}.${index}`);
  } else if (typeof expected === "object" && expected !== null) {
    if ("$length" in expected) return check(actual?.length, expected.$length, `${where}.length`);
    if ("$present" in expected)
      return (actual !== undefined && actual !== null) === expected.$present || fail();
    if ("$distinct" in expected)
      return new Set(actual.map((one) => one[expected.$distinct])).size === actual.length || fail();
    if ("$includes" in expected) {
      const differences = actual.map((one) => differenceOf(one, expected.$includes));
      return differences.includes(undefined) || fail();
    }
    if ("$matches" in expected) return new RegExp(expected.$matches).test(actual) || fail();
    if (typeof actual !== "object" || actual === null) fail();
    for (const [name, member] of Object.entries(expected)) check(actual[name], member, `${where}.${name}`);
  } else if (expected === null ? actual !== null && actual !== undefined : actual !== expected) fail();
}

function differenceOf(actual, expected) {
  try {
    return check(actual, expected, "an item");
  } catch (error) {
    return error;
  }
}
