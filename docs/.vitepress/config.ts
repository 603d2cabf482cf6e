import { slug } from "github-slugger";
import { defineConfig, type DefaultTheme } from "vitepress";
import { titleOf } from "./pages.ts";
import { sections } from "./sections.ts";
import { placeOf } from "./stage.ts";

const linkTo = (page: string) =>
  `/${placeOf(page)
    .replace(/index\.md$/, "")
    .replace(/\.md$/, "")}`;

const itemOf = (page: string): DefaultTheme.SidebarItem => ({ text: titleOf(page), link: linkTo(page) });

/** Of what most readers can do without, a page that lists it: a part that can be folded is no control that everybody can use. */
const sidebar: DefaultTheme.SidebarItem[] = sections().map(({ title, pages, list }) =>
  list === undefined ? { text: title, items: pages.map(itemOf) } : { text: title, link: list },
);

export default defineConfig({
  lang: "en",
  title: "Gatehouse",
  description: "An identity and access platform: a gateway in front of applications, and a control plane",
  // where stage.ts puts the pages
  srcDir: "../.gatehouse/docs-pages",
  srcExclude: ["public/**"],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // as on GitHub
    anchor: { slugify: (text) => slug(text) },
    languageAlias: { envoy: "yaml", caddyfile: "nginx", haproxy: "nginx", spoe: "ini" },
  },
  themeConfig: {
    nav: [
      { text: "Policies", link: "/docs/policies" },
      { text: "Operations", link: "/docs/operations" },
      { text: "API", link: "/docs/api" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
});
