import sheet from "./editor.css?inline";

let own: CSSStyleSheet | undefined;

/**
 * A place for an editor. In a shadow tree, CodeMirror adopts its styles as objects; elsewhere it would write `style`
 * elements, which the Content-Security-Policy refuses.
 *
 * @param kind - a class inside
 */
export function placeIn(
  host: HTMLElement,
  kind: string,
): { readonly parent: Element; readonly root: ShadowRoot } {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  if (own === undefined) {
    own = new CSSStyleSheet();
    own.replaceSync(sheet);
  }
  if (!root.adoptedStyleSheets.includes(own)) root.adoptedStyleSheets.push(own);
  const parent = document.createElement("div");
  parent.className = kind;
  root.replaceChildren(parent);
  return { parent, root };
}
