/**
 * SQL: changes in the audit trail that concern the user `:id` or a session of theirs. Those of releases before the column
 * `about_user` are found by the session, which is kept as long as they are.
 */
export const CHANGES_OF_USER = `kind = 'change' and (about_user = :id::text or resource = any(array(
  select 'user/' || :id::text union all select 'session/' || s.id from sessions s where s.user_id = :id
)))`;
