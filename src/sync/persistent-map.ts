/** Entries whose keys' hashes are equal down to this depth. */
type Leaf<V> = readonly (readonly [key: string, value: V])[];
interface Branch<V> {
  readonly children: readonly (Node<V> | undefined)[];
}
type Node<V> = Leaf<V> | Branch<V>;

const BITS = 4;
const WIDTH = 1 << BITS;
/** When the bits of the hash are used up, entries stay together in one leaf. */
const DEEPEST = 32 - BITS;
/** A leaf with more entries becomes a branch. */
const LEAF_SIZE = 8;

/**
 * An immutable map with string keys: a change makes a new map that shares all nodes with the old one except the few on the
 * path to the entry (Bagwell's hash array mapped trie, with small leaves). A change of a map of a million entries copies a
 * hundred pointers, and readers of the old map are not affected.
 */
export class PersistentMap<V> {
  readonly size: number;
  readonly #root: Node<V>;

  private constructor(root: Node<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>([], 0);
  }

  get(key: string): V | undefined {
    let node = this.#root;
    const hash = hashOf(key);
    for (let shift = 0; !isLeaf(node); shift += BITS) {
      const child: Node<V> | undefined = node.children[slot(hash, shift)];
      if (child === undefined) return undefined;
      node = child;
    }
    return node.find(([own]) => own === key)?.[1];
  }

  with(key: string, value: V): PersistentMap<V> {
    const isNew = this.get(key) === undefined;
    return new PersistentMap(put(this.#root, hashOf(key), 0, key, value), this.size + (isNew ? 1 : 0));
  }

  without(key: string): PersistentMap<V> {
    if (this.get(key) === undefined) return this;
    return new PersistentMap(cut(this.#root, hashOf(key), 0, key) ?? [], this.size - 1);
  }

  *keys(): Generator<string> {
    yield* keysOf(this.#root);
  }
}

function put<V>(node: Node<V> | undefined, hash: number, shift: number, key: string, value: V): Node<V> {
  if (node === undefined) return [[key, value]];
  if (!isLeaf(node)) {
    const at = slot(hash, shift);
    return { children: node.children.with(at, put(node.children[at], hash, shift + BITS, key, value)) };
  }
  const entries: Leaf<V> = [...node.filter(([own]) => own !== key), [key, value]];
  return entries.length > LEAF_SIZE && shift <= DEEPEST ? split(entries, shift) : entries;
}

function split<V>(entries: Leaf<V>, shift: number): Branch<V> {
  const children = Array.from({ length: WIDTH }, (): [string, V][] => []);
  for (const [key, value] of entries) children[slot(hashOf(key), shift)]?.push([key, value]);
  return { children: children.map((leaf) => (leaf.length > 0 ? leaf : undefined)) };
}

/** @returns `undefined` if nothing is left */
function cut<V>(node: Node<V>, hash: number, shift: number, key: string): Node<V> | undefined {
  if (isLeaf(node)) {
    const rest = node.filter(([own]) => own !== key);
    return rest.length > 0 ? rest : undefined;
  }
  const at = slot(hash, shift);
  const child = node.children[at];
  if (child === undefined) return node;
  const children = node.children.with(at, cut(child, hash, shift + BITS, key));
  return children.some((left) => left !== undefined) ? { children } : undefined;
}

function* keysOf<V>(node: Node<V>): Generator<string> {
  if (isLeaf(node)) for (const [key] of node) yield key;
  else for (const child of node.children) if (child !== undefined) yield* keysOf(child);
}

function isLeaf<V>(node: Node<V>): node is Leaf<V> {
  return Array.isArray(node);
}

function slot(hash: number, shift: number): number {
  return (hash >>> shift) & (WIDTH - 1);
}

/** FNV-1a over code units, with a final mix: its low bits alone distinguish similar ids poorly. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
