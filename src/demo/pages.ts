import { Router } from "express";
import { escapeHtml } from "../text/index.ts";
import { assetRoutes } from "./assets.ts";
import { renderPage } from "./layout.ts";
import { revenueByCustomer } from "./reports.ts";
import type { DemoStore } from "./store.ts";

/** The web pages and the files they use. */
export function pageRoutes(store: DemoStore): Router {
  const router = Router();
  router.use(assetRoutes());

  router.get("/", (request, response) => {
    response.send(renderPage(request, "Orders without paper", HOME));
  });
  router.get("/dashboard", (request, response) => {
    response.send(renderPage(request, "Dashboard", dashboard(store)));
  });
  router.get("/admin/settings", (request, response) => {
    response.send(renderPage(request, "Settings", SETTINGS));
  });

  return router;
}

const HOME = `<p class="lead">Ledgerly keeps the customers and orders of a small trading company. Everybody may read
this page; the <a href="/dashboard">dashboard</a> is for staff, the <a href="/admin/settings">settings</a> are for
administrators.</p>`;

const SETTINGS = `<p class="lead">Only administrators can open this page.</p>
<form>
<label>Company name <input name="company" value="Ledgerly Ltd" autocomplete="off"></label>
<label>Currency <select name="currency"><option>EUR</option><option>USD</option><option>GBP</option></select></label>
<label>Orders need approval above <input name="limit" type="number" value="5000"></label>
</form>`;

function dashboard(store: DemoStore): string {
  const customers = [...store.customers.values()];
  const revenue = new Map(revenueByCustomer(store).map((entry) => [entry.customer_id, entry.revenue_cents]));
  const total = [...revenue.values()].reduce((sum, cents) => sum + cents, 0);
  const rows = customers.map(
    ({ id, name, status, city }) =>
      `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(city)}</td>` +
      `<td><span class="tag ${status}">${status}</span></td><td class="number">${euros(revenue.get(id) ?? 0)}</td></tr>`,
  );
  return `<div class="cards">
<div class="card"><span>Customers</span><b>${customers.length}</b></div>
<div class="card"><span>Orders</span><b>${store.orders.length}</b></div>
<div class="card"><span>Revenue</span><b>${euros(total)}</b></div>
</div>
<table>
<thead><tr><th>Customer</th><th>City</th><th>Status</th><th>Revenue</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
}

const EUROS = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });

function euros(cents: number): string {
  return EUROS.format(cents / 100);
}
