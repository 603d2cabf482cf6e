import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, posix } from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { allPages, ROOT, titleOf } from "../../docs/.vitepress/pages.ts";
import { placeOf } from "../../docs/.vitepress/stage.ts";
import { startBrowser } from "../clients/support/browser.ts";
import { problemsOf, problemsOfColours } from "../dashboard/support.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const TYPES: Readonly<Record<string, string>> = {
  ...{ ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" },
  ...{
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
    ".md": "text/plain",
  },
};

/** A server for files, as the site needs. */
function serve(folder: string): Server {
  return createServer((request, response) => {
    const path = decodeURI(new URL(request.url ?? "/", "http://site").pathname);
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
}

/** The documentation as a static site, built and looked at. */
describe("docs: the site", function () {
  this.timeout(900_000);
  let folder: string;
  let server: Server;
  let url: string;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  /** Errors of scripts, and requests to other hosts. */
  const complaints: string[] = [];

  before(async () => {
    folder = join(await temporaryDirectory(), "site");
    const build = [join(ROOT, "docs/.vitepress/build.ts"), "--out", folder];
    await promisify(execFile)(process.execPath, build, { cwd: ROOT, maxBuffer: 1e8 });
    server = serve(folder);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));

  async function open(path: string, colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({ baseURL: url, colorScheme, reducedMotion: "reduce" });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== url && !request.url().startsWith("data:"))
        complaints.push(request.url());
    });
    await page.goto(path);
    return page;
  }

  it("has every page, and the same as Markdown", () => {
    for (const page of allPages()) {
      const html = join(folder, placeOf(page).replace(/\.md$/, ".html"));
      assert.ok(existsSync(html), html);
      assert.equal(readFileSync(join(folder, page), "utf8"), readFileSync(join(ROOT, page), "utf8"));
    }
    assert.equal(
      readFileSync(join(folder, "llms.txt"), "utf8"),
      readFileSync(join(ROOT, "llms.txt"), "utf8"),
    );
  });

  it("has only links to what it has: pages, files, and places in pages", () => {
    const ids = new Map<string, ReadonlySet<string>>();
    const idsOf = (file: string) => {
      const known =
        ids.get(file) ??
        new Set([...readFileSync(file, "utf8").matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id));
      ids.set(file, known);
      return known;
    };
    const dead: string[] = [];
    let seen = 0;
    for (const page of globSync("**/*.html", { cwd: folder })) {
      for (const [, link = ""] of readFileSync(join(folder, page), "utf8").matchAll(
        / (?:href|src)="([^"]*)"/g,
      )) {
        if (/^(?:[a-z]+:|\/\/)/.test(link)) continue;
        seen += 1;
        const [path = "", hash = ""] = link.replaceAll("&amp;", "&").split("#");
        const target =
          path === "" ? page : path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
        const file = join(
          folder,
          decodeURI(target === "" || target.endsWith("/") ? `${target}index.html` : target),
        );
        if (!existsSync(file)) dead.push(`${page}: ${link}`);
        else if (hash !== "" && file.endsWith(".html") && !idsOf(file).has(decodeURIComponent(hash)))
          dead.push(`${page}: ${link}`);
      }
    }
    assert.ok(seen > 1000, String(seen));
    assert.deepEqual([...new Set(dead)], []);
  });

  it("shows a page, and leads from it to another", async () => {
    const page = await open("/");
    await page.getByRole("heading", { level: 1, name: titleOf("README.md") }).waitFor();
    await page.getByRole("main").locator("a[href$='/docs/policies.html']").first().click();
    await page.getByRole("heading", { level: 1, name: titleOf("docs/policies.md") }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/docs/policies.html");
  });

  it("finds a term without asking anybody", async () => {
    const page = await open("/docs/policies.html");
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.getByRole("searchbox").fill(titleOf("docs/rollout.md"));
    await page
      .getByRole("option")
      .filter({ hasText: titleOf("docs/rollout.md") })
      .first()
      .click();
    await page.waitForURL(/\/docs\/rollout\.html/);
  });

  for (const scheme of ["light", "dark"] as const)
    it(`can be read by everybody, ${scheme}`, async () => {
      const problems: string[] = [];
      for (const path of ["/", "/docs/policies.html", "/docs/api.html", "/docs/decisions/"]) {
        const page = await open(path, scheme);
        await page.getByRole("heading", { level: 1 }).waitFor();
        assert.equal(
          (await page.locator("html").getAttribute("class"))?.includes("dark") ?? false,
          scheme === "dark",
        );
        const found = scheme === "light" ? await problemsOf(page) : await problemsOfColours(page);
        problems.push(...found.map((problem) => `${path} ${problem}`));
      }
      assert.deepEqual(problems, []);
    });

  it("has caused no error, and no request to another host", () => {
    assert.deepEqual(complaints, []);
  });
});
