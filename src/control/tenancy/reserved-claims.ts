/**
 * Claims that can never be attributes: those that our access tokens set, those to which JWT, OAuth and OpenID Connect
 * give a meaning, and `id`, which is `sub`.
 */
export const RESERVED_CLAIMS: ReadonlySet<string> = new Set(
  "iss sub aud exp nbf iat jti client_id sid customer_id scope auth_time amr acr id principal_type azp nonce at_hash c_hash s_hash cnf act may_act events toe txn sub_id status vot vtm __proto__".split(
    " ",
  ),
);
