import assert from "node:assert/strict";
import { refusal, startManagement, type Management } from "../../support/management.ts";

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly created_at: string;
}

describe("the list of customers", () => {
  let api: Management;
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  const made: Listed[] = [];

  before(async () => {
    api = await startManagement({ clock: () => now });
    // 23, of which many have the same time, name or status
    for (let n = 0; n < 23; n += 1) {
      if (n % 5 === 0) now += 1_000;
      const name = ["alpha", "Beta", "ALPHA two", "100%_real", "Ünder\\score"][n % 5];
      const status = n % 4 === 3 ? "suspended" : "active";
      made.push((await api.customer({ name, status })) as unknown as Listed);
    }
    const archived = made[1]?.id ?? "";
    const answer = await api.request("PUT", `/customers/${archived}`, { body: { status: "archived" } });
    made[1] = answer.body.data as Listed;
  });
  after(() => api.close());

  const list = async (query: string) => {
    const answer = await api.request("GET", `/customers${query}`);
    assert.equal(answer.status, 200, answer.text);
    const { data, pagination } = answer.body as {
      data: Listed[];
      pagination: Record<"current_page" | "total_pages" | "total_items" | "page_size", number>;
    };
    return { data, ids: data.map(({ id }) => id), pagination };
  };
  const fold = (text: string) => text.toLowerCase();

  it("gives 20 of the newest by default", async () => {
    const { ids, pagination } = await list("");
    assert.deepEqual(pagination, { current_page: 1, total_pages: 2, total_items: 23, page_size: 20 });
    const newest = [...made].sort(descending((each) => each.created_at));
    assert.deepEqual(
      ids,
      newest.slice(0, 20).map(({ id }) => id),
    );
  });

  for (const sort of ["created_at", "updated_at", "name", "status"] as const) {
    for (const order of ["asc", "desc"] as const) {
      it(`pages through all by ${sort} ${order}, each once, equal ones by id`, async () => {
        const key = (each: Listed & Record<string, unknown>) => fold(String(each[sort]));
        const expected = [...made].sort(descending(key as (each: Listed) => string)).map(({ id }) => id);
        if (order === "asc") expected.reverse();
        for (const limit of [1, 4, 7, 23, 100]) {
          const seen: string[] = [];
          for (let page = 1; page <= Math.ceil(23 / limit); page += 1) {
            const { ids } = await list(`?sort=${sort}&order=${order}&limit=${limit}&page=${page}`);
            seen.push(...ids);
          }
          assert.deepEqual(seen, expected, `limit ${limit}`);
        }
      });
    }
  }

  it("is empty beyond the end, and says what there is", async () => {
    for (const page of [3, 1_000_000]) {
      const { ids, pagination } = await list(`?page=${page}`);
      assert.deepEqual(ids, []);
      assert.deepEqual(pagination, { current_page: page, total_pages: 2, total_items: 23, page_size: 20 });
    }
  });

  it("filters by status, and counts what is left", async () => {
    for (const status of ["active", "suspended", "archived"]) {
      const expected = made.filter((each) => each.status === status).map(({ id }) => id);
      const { ids, pagination } = await list(`?status=${status}&limit=100&sort=name`);
      assert.deepEqual(new Set(ids), new Set(expected));
      assert.equal(pagination.total_items, expected.length);
    }
  });

  const beginnings = [
    "alpha",
    "ALPHA",
    "Alpha T",
    "beta",
    "100%",
    "100%_",
    "1__",
    "%",
    "_",
    "\\",
    "ünder\\",
    "ÜNDER\\s",
    "'",
    "x",
  ];
  for (const name of beginnings) {
    it(`finds names that begin with ${name}`, async () => {
      const expected = made.filter((each) => fold(each.name).startsWith(fold(name))).map(({ id }) => id);
      const { ids, pagination } = await list(`?name=${encodeURIComponent(name)}&limit=100`);
      assert.deepEqual(new Set(ids), new Set(expected));
      assert.equal(pagination.total_items, expected.length);
    });
  }

  it("filters by the time of creation: after and before, neither of them included", async () => {
    const times = [...new Set(made.map(({ created_at }) => created_at))].sort();
    const [first = "", second = "", third = ""] = times;
    const at = (time: string) => made.filter(({ created_at }) => created_at === time).map(({ id }) => id);
    const between = await list(`?created_after=${first}&created_before=${third}&limit=100`);
    assert.deepEqual(new Set(between.ids), new Set(at(second)));
    const zoned = encodeURIComponent(second.replace("12:00", "14:00").replace("Z", "+02:00"));
    const upTo = await list(`?created_before=${zoned}&limit=100&status=active&name=alpha`);
    assert.equal(upTo.pagination.total_items, upTo.ids.length);
    assert.ok(upTo.ids.every((id) => at(first).includes(id)));
    assert.ok(upTo.ids.length > 0);
  });

  const injected = "x'; drop table customers; --";
  const malformed = [
    "page=0",
    "page=-1",
    "page=1.5",
    "page=1e3",
    "page=1000001",
    "page=",
    "page=1&page=2",
    "limit=0",
    "limit=101",
    "limit=ten",
    "sort=metadata",
    "sort=id",
    "sort=revision",
    `sort=${encodeURIComponent(injected)}`,
    "sort=created_at,id",
    "order=sideways",
    `order=${encodeURIComponent(injected)}`,
    "status=deleted",
    `status=${encodeURIComponent(injected)}`,
    "status=",
    "name=",
    `name=${"x".repeat(201)}`,
    "name=%00",
    "name=%ff",
    "created_after=yesterday",
    "created_after=2026-01-01",
    "created_after=2026-01-01T00:00:00",
    "created_before=9999999999",
    `created_before=${encodeURIComponent(injected)}`,
    "external_id=a%20b",
    "unknown=1",
    "deleted=true",
    "sort[]=name",
  ];
  for (const query of malformed) {
    it(`refuses ?${query.slice(0, 60)}`, async () => {
      assert.deepEqual(refusal(await api.request("GET", `/customers?${query}`)), [400, "INVALID_PARAMETER"]);
    });
  }

  it("takes names and filters with SQL in them for what they are", async () => {
    const name = `Robert'); DROP TABLE customers;-- $1 ? ?? :id \\' "`;
    const { id } = await api.customer({ name, metadata: { [name.slice(0, 64)]: name } });
    const { data } = await list(`?name=${encodeURIComponent(name)}`);
    assert.deepEqual(
      data.map((each) => [each.id, each.name]),
      [[id, name]],
    );
    assert.equal((await list(`?name=${encodeURIComponent(injected)}`)).pagination.total_items, 0);
    assert.equal((await api.request("DELETE", `/customers/${id}`)).status, 200);
    assert.equal((await list("")).pagination.total_items, 23);
  });

  it("takes names that are far longer when folded", async () => {
    // each is 18 characters in the form that names are compared in, and random bytes do not compress
    const name = Array.from({ length: 200 }, (_, n) =>
      n % 2 ? "\ufdfa" : String.fromCharCode(0x4e00 + n * 97),
    ).join("");
    const { id } = await api.customer({ name });
    const { ids } = await list(`?name=${encodeURIComponent(name.slice(0, 20))}&sort=name`);
    assert.deepEqual(ids, [id]);
    assert.equal((await api.request("DELETE", `/customers/${id}`)).status, 200);
  });

  it("counts exactly under writers at once, and whatever SQL changes the rows", async () => {
    const { db } = api.database;
    const counted = async () => {
      const rows = await db("customers")
        .whereNull("deleted_at")
        .select("status")
        .count({ n: "*" })
        .groupBy("status");
      const real = Object.fromEntries(
        (rows as { status: string; n: number }[]).map(({ status, n }) => [status, n]),
      );
      for (const status of ["active", "suspended", "archived"]) {
        const { pagination } = await list(`?status=${status}&limit=1`);
        assert.equal(pagination.total_items, real[status] ?? 0, status);
      }
      return Object.values(real).reduce((sum, n) => sum + n, 0);
    };
    const many = await Promise.all(Array.from({ length: 40 }, (_, n) => api.customer({ name: `Many ${n}` })));
    assert.equal(await counted(), 63);
    await Promise.all(
      many.map(({ id }, n) => {
        if (n % 3 === 0) return api.request("DELETE", `/customers/${id}`);
        const status = n % 3 === 1 ? "suspended" : "archived";
        return api.request("PUT", `/customers/${id}`, { body: { status } });
      }),
    );
    assert.equal(await counted(), 49);
    await db("customers")
      .whereLike("name", "Many %")
      .update({ deleted_at: new Date(now) });
    assert.equal(await counted(), 23);
    await db("customers").whereLike("name", "Many %").update({ deleted_at: null, status: "active" });
    assert.equal(await counted(), 63);
    await db("customers").whereLike("name", "Many %").delete();
    assert.equal(await counted(), 23);
    const rolledBack = db.transaction(async (trx) => {
      await trx("customers").update({ status: "archived" });
      throw new Error("back");
    });
    await assert.rejects(rolledBack, /back/);
    assert.equal(await counted(), 23);
    await db.raw("truncate customers cascade");
    assert.equal(await counted(), 0);
    await api.customer();
    assert.equal(await counted(), 1);
  });
});

/** Newest first, and equal ones by their id, the same way round. */
function descending(key: (each: Listed) => string) {
  return (a: Listed, b: Listed) => {
    const [left, right] = [key(a), key(b)];
    if (left !== right) return left < right ? 1 : -1;
    return a.id < b.id ? 1 : -1;
  };
}
