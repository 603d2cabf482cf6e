import { SLOT_WIDTH } from "../../envoy-contract.ts";

/** The slot in which Envoy's Lua checks whether a connection is still known. */
export interface ConnectionSlot {
  readonly slot: number;
  /** Of fixed length, and greater than the generation of every earlier connection. */
  readonly generation: string;
}

/** All slots in the form of the state file. */
export interface SlotTable {
  /** Generation of the newest connection. The table does not know later ones yet. */
  readonly newest: string;
  /** The generations of all slots in order; dashes for a free slot. */
  readonly slots: string;
}

const FREE = "-".repeat(SLOT_WIDTH);

/**
 * A compact list of all known connections, so that Lua can detect an unknown one. Forgetting a connection thus closes
 * it, instead of leaving it open without reevaluation.
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

  /** In base 36, enough for a thousand connections per second over ninety years. */
  #generation(number: number): string {
    return number.toString(36).padStart(SLOT_WIDTH, "0");
  }
}
