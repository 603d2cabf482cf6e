import assert from "node:assert/strict";
import type { Reevaluation } from "../../../src/decision/connections/connection-registry.ts";
import { until } from "../../audit/support/wait.ts";
import { allow, connection, deny, POLICY_CHANGED, registry, START } from "./support.ts";
import { accessOf } from "../support.ts";

describe("decision: open connections, round by round", () => {
  describe("and time", () => {
    it("whoever was evaluated before the change and comes after it, is evaluated again", async () => {
      const { connections, state } = registry({ evaluate: () => deny("CONDITION_FALSE") });
      state.now = START + 10;
      await connections.reevaluate();
      const asked = (at: number) => accessOf({ at });
      connections.add(connection("before", { access: asked(START + 9) }));
      connections.add(connection("same", { access: asked(START + 10) }));
      connections.add(connection("after", { access: asked(START + 11) }));
      const closed = () => Object.keys(connections.directives().closed);
      await until(() => closed().length > 1, "the two are closed");
      assert.deepEqual(closed(), ["before", "same"]);
    });

    it("a change during an evaluation starts it again", async () => {
      const answers: ((evaluated: Reevaluation) => void)[] = [];
      const { connections } = registry({ evaluate: () => new Promise((resolve) => answers.push(resolve)) });
      connections.add(connection("a"));
      const first = connections.reevaluate();
      await until(() => answers.length === 1, "it is evaluated");
      const second = connections.reevaluate();
      answers[0]?.(allow("by the old set"));
      await until(() => answers.length === 2, "it is evaluated again");
      answers[1]?.(deny("CONDITION_FALSE"));
      await Promise.all([first, second]);
      assert.deepEqual(connections.directives(), { closed: { a: POLICY_CHANGED }, plans: {} });
    });

    it("one that ends while it is evaluated leaves nothing behind, nor does its successor inherit", async () => {
      const answers: ((evaluated: Reevaluation) => void)[] = [];
      const { connections } = registry({ evaluate: () => new Promise((resolve) => answers.push(resolve)) });
      connections.add(connection("a"));
      connections.add(connection("b"));
      const done = connections.reevaluate();
      await until(() => answers.length === 2, "both are evaluated");
      connections.ended(["a", "b"]);
      connections.add(connection("b", { access: accessOf({ at: START + 5 }) }));
      for (const answer of answers) answer(deny("CONDITION_FALSE"));
      await done;
      assert.deepEqual(connections.directives(), { closed: {}, plans: {} });
    });

    /** Looks at the event loop from outside: how many were evaluated between two turns of other work. */
    const longestTurn = async (work: () => Promise<void>, evaluated: () => number) => {
      let before = 0;
      let longest = 0;
      let done = false;
      const look = () => {
        longest = Math.max(longest, evaluated() - before);
        before = evaluated();
        if (!done) setImmediate(look);
      };
      look();
      await work();
      done = true;
      return Math.max(longest, evaluated() - before);
    };

    it("other work has its turn while many are evaluated, by the time that this takes", async () => {
      for (const [each, atMost] of [
        [1, 5],
        [3, 2],
        [1000, 1],
      ] as const) {
        let evaluated = 0;
        const { connections } = registry({
          evaluate: () => {
            evaluated += 1;
            return allow("plan");
          },
          stopwatch: () => evaluated * each,
        });
        for (let i = 0; i < 400; i += 1) connections.add(connection(String(i)));
        const longest = await longestTurn(
          () => connections.reevaluate(),
          () => evaluated,
        );
        assert.equal(evaluated, 400);
        assert.ok(longest <= atMost, `${longest} of ${each} ms`);
      }
    });

    it("other work has its turn while answers come that were waited for", async () => {
      let planned = 0;
      const answer = {
        verdict: "ALLOW" as const,
        get planText() {
          planned += 1;
          return "plan";
        },
      };
      const { connections } = registry({
        evaluate: () => Promise.resolve(answer),
        stopwatch: () => planned * 3,
      });
      for (let i = 0; i < 400; i += 1) connections.add(connection(String(i)));
      const longest = await longestTurn(
        () => connections.reevaluate(),
        () => planned,
      );
      assert.equal(planned, 400);
      assert.ok(longest <= 3, String(longest));
    });

    it("a set that denies closes every one of many, however long each takes", async () => {
      let evaluated = 0;
      const { connections } = registry({
        evaluate: () => {
          evaluated += 1;
          const denied = deny("CONDITION_FALSE");
          return evaluated % 2 === 0 ? denied : Promise.resolve(denied);
        },
        stopwatch: () => evaluated * 4,
      });
      for (let i = 0; i < 300; i += 1) connections.add(connection(String(i)));
      await connections.reevaluate();
      assert.equal(Object.keys(connections.directives().closed).length, 300);
    });

    it("a plan that cannot be written closes the connection", async () => {
      const unwritable = {
        verdict: "ALLOW" as const,
        get planText(): string {
          throw new Error("no text");
        },
      };
      for (const evaluate of [() => unwritable, () => Promise.resolve(unwritable)]) {
        const { connections, logged } = registry({ evaluate });
        connections.add(connection("a"));
        await connections.reevaluate();
        assert.deepEqual(connections.directives().closed["a"], { code: 1011, reason: "INTERNAL_ERROR" });
        assert.equal(logged[0]?.level, "error");
      }
    });

    it("they are evaluated again by themselves where that is asked for, until the end", async () => {
      const evaluated: string[] = [];
      const { connections } = registry({
        evaluate: ({ requestId }) => {
          evaluated.push(requestId);
          return allow("plan");
        },
        every: 2,
      });
      connections.add(connection("a"));
      connections.start();
      while (evaluated.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
      connections.close();
      await connections.reevaluate();
      const { length } = evaluated;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(evaluated.length, length);
    });
  });

  describe("new plans have only so much room", () => {
    it("who finds none has to come again", async () => {
      let planText = "x".repeat(40);
      const { connections } = registry({ evaluate: () => allow(planText), planSpace: 100 });
      for (const id of ["a", "b", "c"]) connections.add(connection(id));
      await connections.reevaluate();
      const comeAgain = { code: 1012, reason: "POLICY_CHANGED" };
      assert.deepEqual(connections.directives(), {
        closed: { c: comeAgain },
        plans: { a: planText, b: planText },
      });
      // room is given back by what ends and by what is replaced
      connections.ended(["a"]);
      planText = "y".repeat(50);
      connections.add(connection("d"));
      await connections.reevaluate();
      assert.deepEqual(connections.directives(), {
        closed: { c: comeAgain },
        plans: { b: planText, d: planText },
      });
      connections.revoke(({ decisionId }) => decisionId === "b");
      connections.add(connection("e"));
      await connections.reevaluate();
      assert.deepEqual(Object.keys(connections.directives().plans), ["d", "e"]);
    });

    it("and one that ends while it is evaluated takes none", async () => {
      const answers: ((evaluated: Reevaluation) => void)[] = [];
      const { connections, state } = registry({
        evaluate: () => new Promise((resolve) => answers.push(resolve)),
        planSpace: 100,
      });
      connections.add(connection("a"));
      const first = connections.reevaluate();
      await until(() => answers.length === 1, "it is evaluated");
      connections.ended(["a"]);
      answers[0]?.(allow("x".repeat(60)));
      await first;
      assert.equal(state.changes, 0);
      connections.add(connection("b"));
      const second = connections.reevaluate();
      await until(() => answers.length === 2, "the other is evaluated");
      answers[1]?.(allow("y".repeat(60)));
      await second;
      assert.deepEqual(connections.directives(), { closed: {}, plans: { b: "y".repeat(60) } });
    });
  });
});
