import * as z from "zod";
import { list, map, optional, setting, text, url } from "../setting-types.ts";

/** The section `authz.authzen` of gateway.yaml. */
export const authzen = z
  .strictObject({
    url: optional(
      url().refine((value) => !/[?]/.test(value), "must have no query"),
      "Where callers of the Authorization API (AuthZEN) reach `authz.http_listen`, for its metadata. Default: it publishes none.",
    ),
    actions: setting(
      map(
        text(),
        text().refine((value) => /^[A-Z]{1,32}$/.test(value), "must be a method such as `GET`"),
        "action to method",
      ),
      {},
      "Names of actions (`can_read`), each with its method. An action that is not listed must itself be a method.",
    ),
    resources: setting(
      map(
        text(),
        text().refine(
          (value) => /^\/[\w.~/-]*\{id\}[\w.~/-]*$/.test(value),
          "must be a path with one `{id}`, such as `/documents/{id}`",
        ),
        "type to path",
      ),
      {},
      "Types of resources (`document`), each with its path, in which `{id}` stands for the resource's id. The type `route` is " +
        "built in: its id is a path.",
    ),
    subjects: setting(
      list(text().refine((value) => value !== "anonymous", "must not be `anonymous`, which is nobody")),
      ["user"],
      "Types of subjects that are users: their id is `user.id`.",
    ),
    subject_sources: setting(
      map(text(), text(), "type to name"),
      {},
      "Types of subjects that can be searched, each with the source in `attribute_sources` (a `file`) whose keys are their ids.",
    ),
  })
  .prefault({});
