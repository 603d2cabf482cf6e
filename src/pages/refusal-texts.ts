/** What a page says to people who know nothing of policies and proxies. */
export interface RefusalText {
  readonly title: string;
  /** What happened, and what to do. */
  readonly text: string;
}

const ASK =
  "If you think that this is wrong, ask the people who run this site and give them what stands below.";
const AGAIN = "Please try again in a moment.";
const SIGN_IN_AGAIN: RefusalText = {
  title: "Please sign in again",
  text: "You are not signed in any more, or your sign-in cannot be used here.",
};
const TOO_LARGE: RefusalText = {
  title: "This is too large",
  text: "What you sent is larger than this site takes. Try a smaller file, or send less at a time.",
};
const NOT_ACTIVE: RefusalText = {
  title: "Your account is not active",
  text: `It has been suspended or closed. ${ASK}`,
};

/** By public code, where that says more than the status. */
const BY_CODE: Readonly<Record<string, RefusalText>> = {
  TOKEN_INVALID: SIGN_IN_AGAIN,
  TOKEN_EXPIRED: SIGN_IN_AGAIN,
  TOKEN_NOT_YET_VALID: SIGN_IN_AGAIN,
  TOKEN_PROOF_REQUIRED: SIGN_IN_AGAIN,
  SESSION_ENDED: SIGN_IN_AGAIN,
  SESSION_TOO_OLD: {
    title: "Please sign in again",
    text: "You signed in too long ago to open this page.",
  },
  MFA_REQUIRED: {
    title: "Please sign in with a second factor",
    text: "This page asks for more than a password, such as a code from your phone or a security key.",
  },
  CUSTOMER_SUSPENDED: NOT_ACTIVE,
  USER_SUSPENDED: NOT_ACTIVE,
  CLIENT_ADDRESS_NOT_ALLOWED: {
    title: "You may not open this page from here",
    text: `It can be opened from certain networks only, such as that of your company. ${ASK}`,
  },
  ORIGIN_NOT_TRUSTED: {
    title: "This came from another site",
    text:
      "Another site asked for something in your name, or your browser did not say where the request came from. Nothing " +
      "was done. If you meant it, open this site itself and do it there.",
  },
  UPSTREAM_TIMEOUT: {
    title: "This takes too long",
    text: `The application behind this site did not answer in time. ${AGAIN}`,
  },
  UPSTREAM_UNAVAILABLE: {
    title: "This page cannot be reached right now",
    text: `The application behind this site does not answer properly. ${AGAIN}`,
  },
};

const BY_STATUS: Readonly<Record<number, RefusalText>> = {
  400: {
    title: "This request cannot be served",
    text: `Something in the address or in what your browser sent is not clear. Check the address, or go back and try again. ${ASK}`,
  },
  401: { title: "Please sign in", text: "You have to sign in before you can open this page." },
  403: { title: "You may not open this page", text: `You have no access to it. ${ASK}` },
  404: { title: "There is nothing here", text: "Check the address, or go back." },
  405: { title: "This is not possible here", text: "Go back and try something else." },
  408: { title: "This took too long", text: "Your request did not arrive in time. Please try again." },
  412: {
    title: "This request cannot be served",
    text: `It depends on a condition that cannot be looked at here. Open the page again and repeat what you did. ${ASK}`,
  },
  413: TOO_LARGE,
  429: { title: "Too many requests", text: "Please wait a moment, then try again." },
  431: {
    title: "This is too large",
    text: "Your browser sent more along than this site takes. Delete the cookies of this site, then try again.",
  },
  502: {
    title: "This page cannot be shown",
    text: `The answer of the application behind this site could not be passed on. ${ASK}`,
  },
  503: { title: "This page cannot be opened right now", text: AGAIN },
  504: {
    title: "This takes too long",
    text: `The application behind this site did not answer in time. ${AGAIN}`,
  },
};

const FAILED: RefusalText = { title: "Something went wrong", text: `${AGAIN} ${ASK}` };

/** @param code - public code of the error envelope */
export function refusalText(status: number, code: string): RefusalText {
  return BY_CODE[code] ?? BY_STATUS[status] ?? FAILED;
}
