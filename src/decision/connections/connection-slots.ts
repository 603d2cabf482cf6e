import { SLOT_WIDTH } from "../../envoy-contract.ts";

/** Where Envoy's Lua finds out whether a connection is still known. */
export interface ConnectionSlot {
  readonly slot: number;
  /** Fixed in length, and greater than that of every connection before it. */
  readonly generation: string;
}

/** All slots, as the state file has them. */
export interface SlotTable {
  /** Generation of the newest connection: of a later one the table cannot know yet. */
  readonly newest: string;
  /** The generation in each slot, one after the other; dashes where the slot is free. */
  readonly slots: string;
}

const FREE = "-".repeat(SLOT_WIDTH);

/**
 * A short list of all connections that are known, so that Lua can tell one that is not: to forget a connection closes it,
 * and never lets it go on without anybody who would evaluate it again.
 */
export class ConnectionSlots {
  readonly #generations: string[] = [];
  readonly #free: number[] = [];
  #made = 0;

  take(): ConnectionSlot {
    const slot = this.#free.pop() ?? this.#generations.length;
    const generation = this.#generation(++this.#made);
    this.#generations[slot] = generation;
    return { slot, generation };
  }

  free({ slot, generation }: ConnectionSlot): void {
    if (this.#generations[slot] !== generation) return;
    this.#generations[slot] = FREE;
    this.#free.push(slot);
  }

  table(): SlotTable {
    let length = this.#generations.length;
    while (length > 0 && this.#generations[length - 1] === FREE) length -= 1;
    return { newest: this.#generation(this.#made), slots: this.#generations.slice(0, length).join("") };
  }

  /** In base 36 enough for a thousand connections per second over ninety years. */
  #generation(number: number): string {
    return number.toString(36).padStart(SLOT_WIDTH, "0");
  }
}
