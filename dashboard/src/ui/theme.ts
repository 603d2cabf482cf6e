import { signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORED = "gatehouse-theme";

export const theme = signal<Theme>(read());

export function setTheme(next: Theme): void {
  theme.value = next;
  apply();
  try {
    localStorage.setItem(STORED, next);
  } catch {
    // storage is switched off: the choice lasts until the next reload
  }
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return THEMES.find((name) => name === stored) ?? "system";
  } catch {
    return "system";
  }
}

/** Puts the theme in force. */
export function apply(): void {
  document.documentElement.dataset["theme"] = theme.value;
}
