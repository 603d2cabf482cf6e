/** The text of a page, for people who do not know about policies and proxies. */
export interface RefusalText {
  readonly title: string;
  /** What happened, and what to do. */
  readonly text: string;
}

const ASK =
  "If you think this is a mistake, contact the people who run this site and give them the details below.";
const AGAIN = "Please try again in a moment.";
const SIGN_IN_AGAIN: RefusalText = {
  title: "Please sign in again",
  text: "You are no longer signed in, or your sign-in is not valid here.",
};
const TOO_LARGE: RefusalText = {
  title: "This is too large",
  text: "What you sent is larger than this site accepts. Try a smaller file, or send less at a time.",
};
const NOT_ACTIVE: RefusalText = {
  title: "Your account is not active",
  text: `It has been suspended or closed. ${ASK}`,
};

/** By public code, if it says more than the status. */
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
    text: "This page requires more than a password, such as a code from your phone or a security key.",
  },
  CUSTOMER_SUSPENDED: NOT_ACTIVE,
  USER_SUSPENDED: NOT_ACTIVE,
  CLIENT_ADDRESS_NOT_ALLOWED: {
    title: "You cannot open this page from here",
    text: `It can only be opened from certain networks, such as your company's. ${ASK}`,
  },
  ORIGIN_NOT_TRUSTED: {
    title: "This came from another site",
    text:
      "Another site sent a request in your name, or your browser did not say where the request came from. Nothing was " +
      "done. If you intended it, open this site directly and do it there.",
  },
  UPSTREAM_TIMEOUT: {
    title: "This is taking too long",
    text: `The application behind this site did not respond in time. ${AGAIN}`,
  },
  UPSTREAM_UNAVAILABLE: {
    title: "This page is not available right now",
    text: `The application behind this site is not responding properly. ${AGAIN}`,
  },
};

const BY_STATUS: Readonly<Record<number, RefusalText>> = {
  400: {
    title: "This request cannot be processed",
    text: `Something in the address or in your browser's request is ambiguous. Check the address, or go back and try again. ${ASK}`,
  },
  401: { title: "Please sign in", text: "You need to sign in to open this page." },
  403: { title: "You cannot open this page", text: `You do not have access to it. ${ASK}` },
  404: { title: "Page not found", text: "Check the address, or go back." },
  405: { title: "This is not possible here", text: "Go back and try something else." },
  408: { title: "This took too long", text: "Your request did not arrive in time. Please try again." },
  412: {
    title: "This request cannot be processed",
    text: `It depends on a condition that cannot be checked here. Open the page again and repeat what you did. ${ASK}`,
  },
  413: TOO_LARGE,
  429: { title: "Too many requests", text: "Please wait a moment, then try again." },
  431: {
    title: "This is too large",
    text: "Your browser sent more data than this site accepts. Delete this site's cookies, then try again.",
  },
  502: {
    title: "This page cannot be shown",
    text: `The response of the application behind this site could not be delivered. ${ASK}`,
  },
  503: { title: "This page is temporarily unavailable", text: AGAIN },
  504: {
    title: "This is taking too long",
    text: `The application behind this site did not respond in time. ${AGAIN}`,
  },
};

const FAILED: RefusalText = { title: "Something went wrong", text: `${AGAIN} ${ASK}` };

/** @param code - public code of the error envelope */
export function refusalText(status: number, code: string): RefusalText {
  return BY_CODE[code] ?? BY_STATUS[status] ?? FAILED;
}
