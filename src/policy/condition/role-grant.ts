import type { AttributeNode, ConditionNode } from "./ast.ts";
import { comparedWithTruth } from "./logic.ts";
import { visit } from "./walk.ts";

/** What identity providers say of people, and every customer's provider says of its own; `scopes` are of machine clients, too. */
const ROLE_MEMBERS: readonly string[] = ["role", "roles", "permissions", "groups", "scopes"];

/** Members of `request` that whoever asks chooses, whatever the path names. */
const CHOSEN: readonly string[] = ["query", "headers", "body"];

/** What a condition is part of, as far as roles and customers go. */
export interface GrantScope {
  /** Roots that are looked up by who the user is: what they have as roles is the user's at whatever customer. */
  readonly ofUser: readonly string[];
  /** Whether the path of the rule names something: then what the caller chooses besides says nothing of whose that is. */
  readonly hasParameters: boolean;
}

const ANYWHERE: GrantScope = { ofUser: [], hasParameters: false };

/**
 * The ways in which a condition gets a verdict, as far as two questions go: is it by a role, and is the user's customer
 * compared with something? One entry for each pair of answers that some way has, with the role, where it is by one.
 */
type Ways = ReadonlyMap<Way, AttributeNode | undefined>;
type Way = "neither" | "role" | "customer" | "both";

const NO_WAY: Ways = new Map();
const ANY_WAY: Ways = new Map([["neither", undefined]]);

/** @returns the role by which the condition becomes true without the user's customer being compared with anything */
export function findRoleGrant(ast: ConditionNode, scope = ANYWHERE): AttributeNode | undefined {
  return waysTo(true, ast, scope).get("role");
}

/** Whether there is no way for the condition to become true but with the user's customer compared. */
export function bindsCustomer(ast: ConditionNode, scope = ANYWHERE): boolean {
  const ways = waysTo(true, ast, scope);
  return !ways.has("role") && !ways.has("neither");
}

function waysTo(verdict: boolean, node: ConditionNode, scope: GrantScope): Ways {
  if (node.op === "not") return waysTo(!verdict, node.arg, scope);
  if (node.op === "and" || node.op === "or") {
    const parts = node.args.map((arg) => waysTo(verdict, arg, scope));
    // `and` is true where all are, and false where one is; `or` the other way round
    return (node.op === "and") === verdict ? parts.reduce(both) : parts.reduce(either);
  }
  if (node.op === "literal") return node.value === verdict ? ANY_WAY : NO_WAY;
  const truth = comparedWithTruth(node);
  if (truth !== undefined) return waysTo(truth.is === verdict, truth.node, scope);
  return wayOf(roleIn(node, scope), comparesCustomer(node, verdict, scope));
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
function comparesCustomer(node: ConditionNode, verdict: boolean, scope: GrantScope): boolean {
  const isOwn = (one: ConditionNode) => isOwnCustomer(one, scope);
  const isOthers = (one: ConditionNode) => isOther(one, scope);
  if (node.op === "==" || node.op === "!=") {
    const compares = (isOwn(node.left) && isOthers(node.right)) || (isOwn(node.right) && isOthers(node.left));
    return compares && (node.op === "==") === verdict;
  }
  if (!verdict) return false;
  if (node.op === "exists") return isAssigned(node.attribute, scope);
  if (node.op !== "in") return false;
  const { value, list } = node;
  return isAssigned(list, scope) ? isOthers(value) : isOwn(value) && isOthers(list);
}

/** What is not the user's own word: that equals itself, or whatever the user has chosen. */
function isOther(node: ConditionNode, scope: GrantScope): boolean {
  if (node.op === "literal") return typeof node.value === "string" || typeof node.value === "number";
  if (node.op === "list") return node.items.every((item) => isOther(item, scope));
  if (node.op !== "attribute") return false;
  const [root, member = ""] = node.path;
  if (root === "request") return !(scope.hasParameters && CHOSEN.includes(member));
  return root !== "customer" && !isOfUser(node, scope);
}

function isOwnCustomer(node: ConditionNode, scope: GrantScope): boolean {
  if (node.op !== "attribute") return false;
  const [root, ...members] = node.path;
  const member = members.join(".");
  return root === "customer" ? member === "id" : isOfUser(node, scope) && member === "customer_id";
}

/** Customers that somebody looks after: of the platform's own people, by the operator's word. */
function isAssigned(node: ConditionNode, scope: GrantScope): boolean {
  if (node.op !== "attribute" || !isOfUser(node, scope)) return false;
  return node.path.slice(1).join(".") === "assigned_customers";
}

function isOfUser({ path: [root = ""] }: AttributeNode, { ofUser }: GrantScope): boolean {
  return root === "user" || ofUser.includes(root);
}

/** @returns the first role that `node` reads. */
function roleIn(root: ConditionNode, scope: GrantScope): AttributeNode | undefined {
  let role: AttributeNode | undefined;
  visit(root, (node) => {
    if (role === undefined && node.op === "attribute" && isRole(node, scope)) role = node;
  });
  return role;
}

function isRole(node: AttributeNode, scope: GrantScope): boolean {
  const [, member = ""] = node.path;
  return isOfUser(node, scope) && ROLE_MEMBERS.includes(member);
}
