import { Router } from "express";
import { RequestError } from "./http.ts";
import { PEOPLE } from "./people.ts";

/** `GET /api/users/:id`: a colleague's profile. */
export function userRoutes(): Router {
  const router = Router();

  router.get("/api/users/:id", (request, response) => {
    const found = PEOPLE.find((person) => person.id === request.params.id);
    if (found === undefined) throw new RequestError(404, "no such user");
    const { id, name, email, role, department, customer_id } = found;
    response.json({ id, name, email, role, department, customer_id });
  });

  return router;
}
