/** People of the sandbox, who sign in at its own identity provider. */
export const people = {
  lead: "The sandbox has an identity provider of its own. Sign in as one of its people to try what they may do.",
  none: "Nobody yet",
  noneText: "Add somebody who can sign in here.",
  add: "Add a person",
  added: "Person added",
  email: "E-mail address",
  name: "Name",
  role: "Role",
  department: "Department",
  signIn: "Sign in",
  signInOf: (who: string) => `Sign in as ${who}`,
  tokenTitle: (who: string) => `Signed in as ${who}`,
  tokenText:
    "The access token is shown only this once. The session is in the tab Sessions: it can be ended there.",
  token: "the access token",
  command: "a request with it",
  done: "Done",
  remove: "Remove",
  removeOf: (who: string) => `Remove ${who}`,
  removeText: "Existing users and sessions stay.",
  removed: "Person removed",
};
