/** The fields of a form as text; only a password keeps its spaces at both ends. */
export function readForm(form: HTMLFormElement) {
  const given = new FormData(form);
  const exact = (name: string): string => {
    const value = given.get(name);
    return typeof value === "string" ? value : "";
  };
  return { exact, text: (name: string) => exact(name).trim(), has: (name: string) => given.has(name) };
}
