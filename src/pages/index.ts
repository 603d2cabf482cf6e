/** The page that people see instead of the requested one. No I/O. */
export { PAGE_HEADERS, PAGE_TYPE, renderPage, type RefusalPage } from "./refusal-page.ts";
export { signInLink, SIGN_IN_PLACEHOLDER, signInProblem } from "./sign-in-link.ts";
