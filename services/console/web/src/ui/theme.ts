export type Theme = "system" | "light" | "dark";

const KEY = "apimesh-console-theme";

export function currentTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Sets the theme of the document. "system" follows the settings of the browser. */
export function applyTheme(theme: Theme = currentTheme()) {
  if (theme === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
}

/** What the switch shows next: the opposite of what is visible. */
export function otherTheme(): Theme {
  const dark = currentTheme() === "dark" || (currentTheme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  return dark ? "light" : "dark";
}
