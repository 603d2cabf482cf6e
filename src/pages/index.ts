/** The page that people see in place of what they asked for. No I/O. */
export { PAGE_HEADERS, PAGE_TYPE, renderPage, type RefusalPage } from "./refusal-page.ts";
export { signInLink, SIGN_IN_PLACEHOLDER, signInProblem } from "./sign-in-link.ts";
