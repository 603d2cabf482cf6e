import type { AttributeNode, ConditionNode } from "./ast.ts";
import { comparedWithTruth } from "./logic.ts";
import { visit } from "./walk.ts";

/** What identity providers say of people, and every customer's provider says of its own; `scopes` are of machine clients, too. */
const ROLE_MEMBERS: readonly string[] = ["role", "roles", "permissions", "groups", "scopes"];

/**
 * The ways in which a condition gets a verdict, as far as two questions go: is it by a role, and is the user's customer
 * compared with something? One entry for each pair of answers that some way has, with the role, where it is by one.
 */
type Ways = ReadonlyMap<Way, AttributeNode | undefined>;
type Way = "neither" | "role" | "customer" | "both";

const NO_WAY: Ways = new Map();
const ANY_WAY: Ways = new Map([["neither", undefined]]);

/** @returns the role by which the condition becomes true without the user's customer being compared with anything */
export function findRoleGrant(ast: ConditionNode): AttributeNode | undefined {
  return waysTo(true, ast).get("role");
}

/** Whether there is no way for the condition to become true but with the user's customer compared. */
export function bindsCustomer(ast: ConditionNode): boolean {
  const ways = waysTo(true, ast);
  return !ways.has("role") && !ways.has("neither");
}

function waysTo(verdict: boolean, node: ConditionNode): Ways {
  if (node.op === "not") return waysTo(!verdict, node.arg);
  if (node.op === "and" || node.op === "or") {
    const parts = node.args.map((arg) => waysTo(verdict, arg));
    // `and` is true where all are, and false where one is; `or` the other way round
    return (node.op === "and") === verdict ? parts.reduce(both) : parts.reduce(either);
  }
  if (node.op === "literal") return node.value === verdict ? ANY_WAY : NO_WAY;
  const truth = comparedWithTruth(node);
  if (truth !== undefined) return waysTo(truth.is === verdict, truth.node);
  return wayOf(roleIn(node), comparesCustomer(node, verdict));
}

function wayOf(role: AttributeNode | undefined, customer: boolean): Ways {
  if (role === undefined) return new Map([[customer ? "customer" : "neither", role]]);
  return new Map([[customer ? "both" : "role", role]]);
}

function either(a: Ways, b: Ways): Ways {
  return new Map([...b, ...a]);
}

function both(a: Ways, b: Ways): Ways {
  const ways = new Map<Way, AttributeNode | undefined>();
  for (const [first, firstRole] of a)
    for (const [second, secondRole] of b) {
      const customer = [first, second].some((kind) => kind === "customer" || kind === "both");
      for (const [kind, role] of wayOf(firstRole ?? secondRole, customer))
        if (!ways.has(kind)) ways.set(kind, role);
    }
  return ways;
}

/** Whether the verdict says which customer it is about: equal, one of, or assigned. */
function comparesCustomer(node: ConditionNode, verdict: boolean): boolean {
  if (node.op === "==" || node.op === "!=") {
    const compares =
      (isOwnCustomer(node.left) && isOther(node.right)) || (isOwnCustomer(node.right) && isOther(node.left));
    return compares && (node.op === "==") === verdict;
  }
  if (!verdict) return false;
  if (node.op === "exists") return isAssigned(node.attribute);
  if (node.op !== "in") return false;
  const { value, list } = node;
  return isAssigned(list) ? isOther(value) : isOwnCustomer(value) && isOther(list);
}

/** What is not the user's own word: that equals itself. */
function isOther(node: ConditionNode): boolean {
  if (node.op === "literal") return typeof node.value === "string" || typeof node.value === "number";
  if (node.op === "attribute") return node.path[0] !== "user" && node.path[0] !== "customer";
  return node.op === "list" && node.items.every(isOther);
}

function isOwnCustomer(node: ConditionNode): boolean {
  if (node.op !== "attribute") return false;
  const path = node.path.join(".");
  return path === "user.customer_id" || path === "customer.id";
}

/** Customers that somebody looks after: of the platform's own people, by the operator's word. */
function isAssigned(node: ConditionNode): boolean {
  return node.op === "attribute" && node.path.join(".") === "user.assigned_customers";
}

/** @returns the first role that `node` reads. */
function roleIn(root: ConditionNode): AttributeNode | undefined {
  let role: AttributeNode | undefined;
  visit(root, (node) => {
    if (role === undefined && node.op === "attribute" && isRole(node)) role = node;
  });
  return role;
}

function isRole({ path: [root, member = ""] }: AttributeNode): boolean {
  return root === "user" && ROLE_MEMBERS.includes(member);
}
