import { isIPv4 } from "node:net";
import * as z from "zod";

/**
 * @returns what is wrong with a return URL. The browser is sent there with a one-time code, so it is compared with
 *   these texts character by character (RFC 9700, section 4.1.3), and each must be written in its canonical form.
 */
export function problemOfReturnUrl(text: string): string | undefined {
  if (!/^[!-~]+$/.test(text)) return "must be a URL with only visible ASCII characters";
  const url = URL.parse(text);
  if (url === null) return "must be a URL such as `https://app.example.com/signed-in`";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (text.includes("#")) return "must not have a fragment";
  if (text.includes("*")) return "must be an exact URL: wildcards are not supported";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    return "must begin with `https://`; `http://` is for this machine only (localhost, 127.0.0.1, [::1])";
  if (text !== url.href && `${text}/` !== url.href) return `must be written as \`${url.href}\``;
  return undefined;
}

/** RFC 8252, section 7.3; and the name `localhost`, because developers use it. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}

/** The URLs to which users may be sent back. */
export function returnUrls() {
  const url = z
    .string()
    .max(2000, "must have at most 2000 characters")
    .superRefine((text, context) => {
      const message = problemOfReturnUrl(text);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    });
  return z
    .array(url)
    .max(50, "must have at most 50 entries")
    .refine((urls) => new Set(urls).size === urls.length, "must not repeat an entry");
}
