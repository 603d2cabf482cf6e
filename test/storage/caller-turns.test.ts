import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  CallerTurns,
  currentCaller,
  forAllCallers,
  forCaller,
  itemsForCaller,
  TooManyWaitingError,
} from "../../src/storage/caller-turns.ts";

describe("turns of callers", () => {
  /** Asks for turns and notes who got one, in order. */
  const asking = (options: Partial<ConstructorParameters<typeof CallerTurns>[0]> = {}) => {
    const turns = new CallerTurns({ atOnce: 3, longestMs: 60_000, ...options });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const ask = async (id: string, signal = new AbortController().signal) => {
      const end = await turns.take({ id, signal });
      begun.push(id);
      ends.push(end);
    };
    const endOne = async () => {
      ends.shift()?.();
      await nextTurn();
    };
    return { begun, ask, endOne };
  };

  it("one caller never has all of them, and those that wait take turns", async () => {
    const { begun, ask, endOne } = asking();
    const all = ["a", "a", "a", "a", "a", "a", "b", "b", "c", "c", "c"].map((id) => ask(id));
    await nextTurn();
    assert.equal(begun.join(""), "aab");
    while (begun.length < all.length) await endOne();
    assert.equal(begun.join(""), "aababcacaca");
    await Promise.all(all);
  });

  it("the only one is for everybody", async () => {
    const { begun, ask, endOne } = asking({ atOnce: 1 });
    const all = ["a", "a", "b"].map((id) => ask(id));
    await nextTurn();
    for (const expected of ["a", "aa", "aab"]) {
      assert.equal(begun.join(""), expected);
      await endOne();
    }
    await Promise.all(all);
  });

  it("whoever has begun to answer waits as long as it takes", async () => {
    const turns = new CallerTurns({ atOnce: 1, longestMs: 10, mostWaiting: 1 });
    const { signal } = new AbortController();
    const end = await turns.take({ id: "a", signal });
    const waiting = [1, 2].map(async () => {
      const endIts = await turns.take({ id: "a", signal, isPatient: true });
      endIts();
    });
    await assert.rejects(turns.take({ id: "a", signal }), TooManyWaitingError);
    await assert.rejects(turns.take({ id: "b", signal }), TooManyWaitingError);
    end();
    await Promise.all(waiting);
  });

  it("items are read for their caller, whatever asks for them", async () => {
    async function* items() {
      yield currentCaller()?.id;
      await nextTurn();
      yield currentCaller()?.id;
    }
    const { signal } = new AbortController();
    const read: unknown[] = [];
    for await (const item of itemsForCaller({ id: "a", signal }, items())) read.push(item, currentCaller());
    assert.deepEqual(read, ["a", undefined, "a", undefined]);
  });

  it("whoever waits too long, or behind too many of its own, is refused, and others are not", async () => {
    const { begun, ask, endOne } = asking({ longestMs: 20, mostWaiting: 2 });
    await Promise.all(["a", "a", "b"].map((id) => ask(id)));
    const late = ["a", "a"].map((id) => assert.rejects(ask(id), TooManyWaitingError));
    await assert.rejects(ask("a"), TooManyWaitingError);
    await Promise.all(late);
    await endOne();
    assert.equal(begun.join(""), "aab");
    await ask("a");
    assert.equal(begun.join(""), "aaba");
  });

  it("each refusal says whose and why, and which is the first while that caller waits", async () => {
    const refused: string[] = [];
    const { ask, endOne } = asking({
      mostWaiting: 1,
      onRefused({ caller, reason, isFirst }) {
        refused.push(`${caller.id} ${reason} ${isFirst}`);
      },
    });
    await Promise.all(["a", "a"].map((id) => ask(id)));
    const waiting = ask("a");
    for (let n = 0; n < 2; n += 1) await assert.rejects(ask("a"), { reason: "queue_full" });
    assert.deepEqual(refused, ["a queue_full true", "a queue_full false"]);
    await endOne();
    await waiting;
    const again = ask("a");
    await assert.rejects(ask("a"), TooManyWaitingError);
    assert.equal(refused.at(-1), "a queue_full true");
    await endOne();
    await again;
  });

  it("an aborted request leaves the queue, and one that has its turn keeps it", async () => {
    const { begun, ask, endOne } = asking();
    const gone = new AbortController();
    await Promise.all(["a", "a"].map((id) => ask(id, gone.signal)));
    const waiting = ask("a", gone.signal);
    const after = ask("a");
    const reason = new Error("gone");
    gone.abort(reason);
    await assert.rejects(waiting, reason);
    await assert.rejects(ask("a", gone.signal), reason);
    assert.equal(begun.join(""), "aa");
    // what needs no waiting is carried out: nobody reads the answer to a logout
    await ask("b", gone.signal);
    await endOne();
    await after;
    assert.equal(begun.join(""), "aaba");
  });

  it("work belongs to its caller until that has its answer, except what others use as well", async () => {
    const caller = { id: "a", signal: new AbortController().signal };
    let later: Promise<unknown> | undefined;
    await forCaller(caller, async () => {
      await nextTurn();
      assert.equal(currentCaller(), caller);
      assert.equal(forAllCallers(currentCaller), undefined);
      later = nextTurn().then(async () => {
        await nextTurn();
        return currentCaller();
      });
    });
    assert.equal(await later, undefined);
    assert.equal(currentCaller(), undefined);
  });
});
