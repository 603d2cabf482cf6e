export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 200;
const MIN_DISTINCT = 5;

/** The rules below in words, for the page that asks for a password. */
export const PASSWORD_RULE =
  `${MIN_PASSWORD} to ${MAX_PASSWORD} characters, at least ${MIN_DISTINCT} of them different. ` +
  "Not your e-mail address, and not a commonly used password.";

/** Commonly used passwords that are long enough; in lower case. */
const COMMON: ReadonlySet<string> = new Set([
  "000000000000",
  "0123456789012",
  "0987654321098",
  "1234567890-=",
  "123456789012",
  "1234567890123",
  "12345678901234",
  "123456789abc",
  "1234567891011",
  "1234qwerasdf",
  "1234qwerasdfzxcv",
  "1q2w3e4r5t6y",
  "1q2w3e4r5t6y7u8i",
  "1qaz2wsx3edc",
  "1qaz2wsx3edc4rfv",
  "1qazxsw23edc",
  "987654321098",
  "abc123abc123",
  "abcd1234abcd",
  "abcdefghijkl",
  "abcdefghijklm",
  "administrator",
  "administrator1",
  "adminadminadmin",
  "asdfghjkl123",
  "asdfghjkl;'\\",
  "asdfghjklqwertyuiop",
  "changemechangeme",
  "changemenow1",
  "correcthorsebatterystaple",
  "iloveyou1234",
  "iloveyouforever",
  "letmeinletmein",
  "letmeinplease",
  "mypassword123",
  "passw0rd1234",
  "password!123",
  "password1234",
  "password12345",
  "password123456",
  "password@123",
  "passwordpassword",
  "q1w2e3r4t5y6",
  "qazwsxedcrfv",
  "qazwsxedcrfvtgb",
  "qwerty123456",
  "qwerty1234567",
  "qwertyqwerty",
  "qwertyuiop12",
  "qwertyuiop123",
  "qwertyuiop[]",
  "qwertyuiopasdfghjkl",
  "qwertyuiopasdfghjklzxcvbnm",
  "trustno1trustno1",
  "welcome12345",
  "welcome123456",
  "zaq12wsxcde3",
  "zxcvbnm12345",
  "zxcvbnmasdfghjkl",
]);

/** @returns what is wrong with a new password, or `undefined`. The schema checks its length. */
export function passwordProblem(password: string, email: string): string | undefined {
  const folded = password.normalize("NFKC").toLowerCase();
  const [local = ""] = email.split("@");
  if (folded === email || folded === local) return "must not be the e-mail address";
  if (COMMON.has(folded)) return "must not be a commonly used password";
  if (new Set(folded).size < MIN_DISTINCT) return `must have at least ${MIN_DISTINCT} different characters`;
  return undefined;
}
