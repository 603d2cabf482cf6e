import { Ajv2020 } from "ajv/dist/2020.js";
import type { Asked } from "./curl.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

/** Checks requests against the OpenAPI document of an environment that has every route. */
export class ApiCalls {
  readonly #document: ApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#ajv.addSchema(document, "openapi");
  }

  /**
   * @param path - from `/v1` on, with the query; ids are anything that is no name of a route
   * @returns what is wrong with it
   */
  problemsOf(path: string, { method, body }: Pick<Asked, "method" | "body">): readonly string[] {
    const [route = "", query = ""] = path.split("?");
    const template = this.#templateOf(route.replace(/^\/v1(?=\/)/, ""));
    if (template === undefined) return [`the API has no path ${route}`];
    const operation = this.#document.paths[template]?.[method.toLowerCase()];
    if (operation === undefined) return [`${template} does not take ${method}`];
    const known = (operation.parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name);
    const names = query.split("&").map((pair) => pair.replace(/=.*/s, ""));
    return [
      ...names
        .filter((name) => name !== "" && !known.includes(name))
        .map((name) => `${template} has no parameter \`${name}\``),
      ...this.bodyProblems(template, method.toLowerCase(), body),
    ];
  }

  #templateOf(route: string): string | undefined {
    const segments = route.split("/");
    const fits = (template: string) => {
      const parts = template.split("/");
      return (
        parts.length === segments.length &&
        parts.every((part, index) =>
          /^\{.+\}$/.test(part) ? segments[index] !== "" : part === segments[index],
        )
      );
    };
    const found = Object.keys(this.#document.paths).filter(fits);
    // a name of its own comes before a parameter
    return found.sort((a, b) => a.split("{").length - b.split("{").length)[0];
  }

  bodyProblems(template: string, method: string, body: string | undefined): readonly string[] {
    const content = this.#document.paths[template]?.[method]?.requestBody?.content;
    if (body === undefined) return [];
    if (content === undefined) return [`${method} ${template} takes no body`];
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (error) {
      return [`the body is not JSON: ${String(error)}`];
    }
    const [type = ""] = Object.keys(content);
    const pointer = ["paths", template, method, "requestBody", "content", type, "schema"]
      .map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1"))
      .map(encodeURIComponent)
      .join("/");
    const validate = this.#ajv.compile({ $ref: `openapi#/${pointer}` });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `the body of ${method} ${template}: ${instancePath} ${message ?? ""}`,
    );
  }
}
