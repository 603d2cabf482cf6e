import { Router } from "express";

/** `/assets/*`: static files, embedded in the program so that they are available in any installation. */
export function assetRoutes(): Router {
  const router = Router();
  router.get("/assets/:file", (request, response, next) => {
    const asset = ASSETS.get(request.params.file);
    if (asset === undefined) {
      next();
      return;
    }
    response.set("cache-control", "public, max-age=3600").type(asset.type).send(asset.text);
  });
  return router;
}

const STYLESHEET = `
:root { --ink: #1c2430; --soft: #5b6675; --line: #e2e6ec; --paper: #ffffff; --back: #f5f7fa; --accent: #2456c8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf2; --soft: #9aa6b6; --line: #2c3542; --paper: #171d26; --back: #10151c; --accent: #7ea6ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
header { background: var(--paper); border-bottom: 1px solid var(--line); }
header > div, main, footer { max-width: 62rem; margin: 0 auto; padding: 1rem 1.5rem; }
header > div { display: flex; gap: 1.5rem; align-items: center; flex-wrap: wrap; }
header img { width: 28px; height: 28px; vertical-align: middle; margin-right: .5rem; }
header strong { font-size: 1.05rem; }
nav { display: flex; gap: 1rem; flex: 1; }
nav a[aria-current] { color: var(--ink); font-weight: 600; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
.who { color: var(--soft); font-size: .9rem; }
h1 { font-size: 1.7rem; margin: 1.2rem 0 .4rem; letter-spacing: -.01em; }
.lead { color: var(--soft); max-width: 44rem; margin-top: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
.card, table, form { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; }
.card { padding: 1rem 1.2rem; }
.card span { color: var(--soft); font-size: .85rem; display: block; }
.card b { font-size: 1.6rem; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: separate; border-spacing: 0; overflow: hidden; }
th, td { text-align: left; padding: .6rem 1rem; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.tag { border-radius: 99px; padding: .1rem .6rem; font-size: .8rem; background: var(--back); color: var(--soft); }
.tag.active { background: #1d8a4e22; color: #1d8a4e; }
.tag.suspended { background: #c0392b22; color: #c0392b; }
form { padding: 1.2rem; display: grid; gap: .9rem; max-width: 32rem; }
label { display: grid; gap: .25rem; font-size: .9rem; color: var(--soft); }
input, select { font: inherit; padding: .45rem .6rem; color: inherit; background: var(--back);
  border: 1px solid var(--line); border-radius: 6px; }
footer { color: var(--soft); font-size: .85rem; }
`.trimStart();

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28" role="img" aria-label="Ledgerly">
<rect width="28" height="28" rx="7" fill="#2456c8"/>
<path d="M8 7v14h12" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>
<circle cx="18" cy="11" r="3" fill="#fff"/>
</svg>
`;

const ASSETS: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  ["style.css", { type: "css", text: STYLESHEET }],
  ["logo.svg", { type: "svg", text: LOGO }],
]);
