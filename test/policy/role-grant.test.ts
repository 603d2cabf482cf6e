import assert from "node:assert/strict";
import { bindsCustomer, findRoleGrant, formatPath, parseCondition } from "../../src/policy/index.ts";

function parsed(text: string) {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return ast;
}

describe("permits by a role", () => {
  const ADMIN = 'user.role == "admin"';
  const OWN = "user.customer_id == path.id";
  for (const [condition, role] of [
    // by a role alone
    [ADMIN, "user.role"],
    ['user.role in ["admin", "owner"]', "user.role"],
    ['user.permissions.includes("a:b")', "user.permissions"],
    ['"staff" in user.groups', "user.groups"],
    ['user.scopes.includes("a:b")', "user.scopes"],
    ['not user.roles.includes("guest")', "user.roles"],
    ["exists(user.role)", "user.role"],
    ["user.role == request.query.role", "user.role"],
    [`(${ADMIN}) == true`, "user.role"],
    [`not ((${ADMIN}) == false)`, "user.role"],
    // in one of several ways
    [`${ADMIN} or ${OWN}`, "user.role"],
    [`${OWN} or (exists(user.id) and ${ADMIN})`, "user.role"],
    [`not (not (${ADMIN}) and user.customer_id != path.id)`, "user.role"],
    [`${ADMIN} and (${OWN} or path.id == "open")`, "user.role"],
    [`(${ADMIN} or exists(user.id)) and (${OWN} or exists(user.id))`, "user.role"],
    // what says nothing of the customer
    [`${ADMIN} and user.customer_id != path.id`, "user.role"],
    [`${ADMIN} and not (${OWN})`, "user.role"],
    [`${ADMIN} and exists(user.customer_id)`, "user.role"],
    [`${ADMIN} and user.customer_id == customer.id`, "user.role"],
    [`${ADMIN} and user.customer_id == user.account`, "user.role"],
    [`${ADMIN} and user.customer_id != null`, "user.role"],
    [`${ADMIN} and user.customer_id in user.assigned_customers`, "user.role"],
    [`${ADMIN} and user.customer_id in ["a", user.customer_id]`, "user.role"],
    [`${ADMIN} and user.customer_id.startsWith("c")`, "user.role"],
    [`${ADMIN} and user.customer_id == (path.id == "c")`, "user.role"],
    [`${ADMIN} and path.customer_id == path.id`, "user.role"],
    // compared
    [`${ADMIN} and ${OWN}`, undefined],
    [`path.id == user.customer_id and ${ADMIN}`, undefined],
    [`${ADMIN} and customer.id == "cus_1"`, undefined],
    [`${ADMIN} and user.customer_id in ["cus_1", "cus_2"]`, undefined],
    [`${ADMIN} and not (user.customer_id != path.id)`, undefined],
    [`${ADMIN} and user.assigned_customers.includes(path.id)`, undefined],
    [`${ADMIN} and exists(user.assigned_customers)`, undefined],
    [
      `(${ADMIN} or user.role == "owner") and (${OWN} or user.assigned_customers.includes(path.id))`,
      undefined,
    ],
    [`not (not (${ADMIN}) or user.customer_id != path.id)`, undefined],
    [`${ADMIN} and false`, undefined],
    // by no role
    ["exists(user.id)", undefined],
    ['user.department == "sales"', undefined],
    ['path.role == "admin"', undefined],
    ["true", undefined],
  ] as const)
    it(`${condition}: ${role ?? "none"}`, () => {
      const found = findRoleGrant(parsed(condition));
      assert.equal(found && formatPath(found.path), role);
    });

  const SCOPE = { ofUser: ["profile"], hasParameters: true };
  for (const [condition, role] of [
    // what is looked up by the user is said of the user
    ['profile.role == "admin"', "profile.role"],
    [
      `profile.permissions.includes("a:b") and user.customer_id == profile.customer_id`,
      "profile.permissions",
    ],
    [`profile.role == "admin" and profile.customer_id == path.id`, undefined],
    [`profile.role == "admin" and profile.assigned_customers.includes(path.id)`, undefined],
    ['target.role == "admin" and profile.department == "sales"', undefined],
    // what the caller chooses is not what the path names
    [`${ADMIN} and user.customer_id == request.query.customer_id`, "user.role"],
    [`${ADMIN} and request.headers["x-customer"] == user.customer_id`, "user.role"],
    [`${ADMIN} and user.customer_id in ["cus_1", request.body.customer_id]`, "user.role"],
    [`${ADMIN} and user.assigned_customers.includes(request.query.customer_id)`, "user.role"],
    [`${ADMIN} and user.customer_id == request.host`, undefined],
    [`${ADMIN} and user.customer_id == path.id`, undefined],
  ] as const)
    it(`${condition}: ${role ?? "none"}, where the path has parameters and \`profile\` is the user's`, () => {
      const found = findRoleGrant(parsed(condition), SCOPE);
      assert.equal(found && formatPath(found.path), role);
    });

  it("compare the customer with what the caller chooses where the path names nothing", () => {
    const condition = parsed(`${ADMIN} and user.customer_id == request.query.customer_id`);
    assert.equal(findRoleGrant(condition), undefined);
    const messages = parsed("user.customer_id == request.query.customer_id");
    assert.deepEqual([bindsCustomer(messages), bindsCustomer(messages, SCOPE)], [true, false]);
  });

  it("are of one customer where every way to true compares it", () => {
    assert.ok(bindsCustomer(parsed(OWN)));
    assert.ok(bindsCustomer(parsed(`${OWN} and exists(user.id) or user.customer_id == "c"`)));
    assert.ok(!bindsCustomer(parsed(`${OWN} or exists(user.id)`)));
  });

  it("are found in bounded time in what is long and deep", () => {
    const many = Array.from({ length: 300 }, (_, at) => `user.role == "r${at}"`).join(" or ");
    assert.ok(findRoleGrant(parsed(`(${many}) and (${many})`)));
  });
});
