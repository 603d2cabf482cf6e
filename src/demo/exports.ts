import { Router } from "express";
import { escapeHtml } from "../text/index.ts";
import { orderTotal, type DemoStore } from "./store.ts";
import { renderPage } from "./layout.ts";

/**
 * `GET /api/exports/{year}`: the orders of a year as CSV; `latest` redirects to the last year. Like many APIs, not all of its
 * responses are JSON: a year without orders is an HTML page.
 */
export function exportRoutes(store: DemoStore): Router {
  const router = Router();

  router.get("/api/exports/:year", (request, response) => {
    const { year } = request.params;
    const years = [...new Set(store.orders.map(yearOf))].sort();
    if (year === "latest") {
      response.redirect(`/api/exports/${years.at(-1) ?? ""}`);
      return;
    }
    const orders = store.orders.filter((order) => yearOf(order) === year);
    if (orders.length === 0) {
      const text = `<h1>Nothing in ${escapeHtml(year)}</h1><p>There are exports for ${years.join(", ")}.</p>`;
      response.status(404).send(renderPage(request, "No export", text));
      return;
    }
    const rows = orders.map((order) => [order.id, order.customer_id, order.item, orderTotal(order)]);
    const table = [["order", "customer", "item", "cents"], ...rows];
    response
      .attachment(`orders-${year}.csv`)
      .send(table.map((row) => `${row.map(cell).join(",")}\r\n`).join(""));
  });

  return router;
}

function yearOf({ created_at: time }: { readonly created_at: string }): string {
  return time.slice(0, 4);
}

/** RFC 4180. */
function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
