import type { components, paths } from "./schema.d.ts";

export type Method = "get" | "post" | "put" | "delete";

/** The paths that have a method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Readonly<Record<M, { readonly responses: unknown }>> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends PathWith<M>> = paths[P][M & keyof paths[P]];

type Success<O> = O extends { readonly responses: infer R }
  ? R[keyof R] extends { readonly content: { readonly "application/json": infer Body } }
    ? Body
    : R extends Readonly<Record<200, { readonly content: { readonly "application/json": infer Body } }>>
      ? Body
      : never
  : never;

/** `data` of a successful answer. */
export type Data<P extends PathWith<M>, M extends Method = "get"> =
  Success<Operation<M, P>> extends { readonly data: infer D } ? D : never;

/** One entry of a list. */
export type Item<P extends PathWith<"get">> = Data<P> extends readonly (infer T)[] ? T : never;

export type Query<P extends PathWith<M>, M extends Method = "get"> =
  Operation<M, P> extends { readonly parameters: { readonly query?: infer Q } } ? NonNullable<Q> : never;

export type Body<P extends PathWith<M>, M extends Method> =
  Operation<M, P> extends { readonly requestBody?: infer B }
    ? NonNullable<B> extends { readonly content: { readonly "application/json": infer J } }
      ? J
      : undefined
    : undefined;

export type Session = components["schemas"]["DashboardSession"];
export type ApiKey = components["schemas"]["ApiKey"];
export type Pagination = components["schemas"]["Pagination"];
export type Permission = Session["permissions"][number];
