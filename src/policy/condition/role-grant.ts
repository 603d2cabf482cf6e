import type { AttributeNode, ConditionNode } from "./ast.ts";
import { comparedWithTruth } from "./logic.ts";
import { visit } from "./walk.ts";

/**
 * Claims that each customer's identity provider makes about its own users, by which rules grant access like by a role. A
 * provider may assert any e-mail address and name, also those of another customer's users. `scopes` also come from machine
 * clients.
 */
const ROLE_MEMBERS: readonly string[] = ["role", "roles", "permissions", "groups", "scopes", "email", "name"];

/** Members of `request` that the caller chooses freely, independent of the path. */
const CHOSEN: readonly string[] = ["query", "headers", "body"];

/** The context of a condition that matters for roles and customers. */
export interface GrantScope {
  /** Roots that are looked up by user: roles found there belong to the user, whichever customer the user is from. */
  readonly ofUser: readonly string[];
  /**
   * Whether the rule's path names a resource. If it does, other values that the caller chooses do not say whose
   * resource it is.
   */
  readonly hasParameters: boolean;
}

const ANYWHERE: GrantScope = { ofUser: [], hasParameters: false };

/**
 * The ways in which a condition can reach a verdict, reduced to two questions: does a role decide, and is the user's
 * customer compared with anything? One entry per pair of answers that occurs, with the role if one decides.
 */
type Ways = ReadonlyMap<Way, AttributeNode | undefined>;
type Way = "neither" | "role" | "customer" | "both";

const NO_WAY: Ways = new Map();
const ANY_WAY: Ways = new Map([["neither", undefined]]);

/** @returns the role that makes the condition true without any comparison of the user's customer */
export function findRoleGrant(ast: ConditionNode, scope = ANYWHERE): AttributeNode | undefined {
  return waysTo(true, ast, scope).get("role");
}

/** Whether every way to make the condition true compares the user's customer. */
export function bindsCustomer(ast: ConditionNode, scope = ANYWHERE): boolean {
  const ways = waysTo(true, ast, scope);
  return !ways.has("role") && !ways.has("neither");
}

function waysTo(verdict: boolean, node: ConditionNode, scope: GrantScope): Ways {
  if (node.op === "not") return waysTo(!verdict, node.arg, scope);
  if (node.op === "and" || node.op === "or") {
    const parts = node.args.map((arg) => waysTo(verdict, arg, scope));
    // `and` is true if all are true, and false if one is false; `or` is the reverse
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

/** Whether the verdict fixes the customer: equal, one of, or assigned. */
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

/** An operand that the user does not control. One that the user controls can be chosen to match. */
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

/** Customers assigned to a member of the platform's own staff by the operator. */
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
