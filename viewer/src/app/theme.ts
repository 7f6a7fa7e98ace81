// Light or dark: as the notebook or the system has it, unless somebody chose.

import { useEffect, useState } from "preact/hooks";
import type { Theme } from "../map/props";

export type Preference = "auto" | Theme;

const KEPT_AS = "heedmap-theme";

export function useTheme(): { theme: Theme; preference: Preference; prefer: (preference: Preference) => void } {
  const [preference, setPreference] = useState<Preference>(kept);
  const [around, setAround] = useState<Theme>(themeAround);
  useEffect(() => {
    const look = () => setAround(themeAround());
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", look);
    const observer = new MutationObserver(look);
    for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
    return () => {
      system.removeEventListener("change", look);
      observer.disconnect();
    };
  }, []);
  const prefer = (wanted: Preference) => {
    setPreference(wanted);
    keep(wanted);
  };
  return { theme: preference === "auto" ? around : preference, preference, prefer };
}

/** The theme of what the page stands in: Jupyter, VS Code and marimo say it on the body or the root. */
export function themeAround(): Theme {
  const { dataset, classList } = document.body;
  if (dataset.jpThemeLight) return dataset.jpThemeLight === "true" ? "light" : "dark";
  if (classList.contains("vscode-dark") || classList.contains("vscode-high-contrast")) return "dark";
  if (classList.contains("vscode-light")) return "light";
  const root = document.documentElement.classList;
  if (root.contains("dark") || classList.contains("dark")) return "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function kept(): Preference {
  try {
    const found = localStorage.getItem(KEPT_AS);
    return found === "light" || found === "dark" ? found : "auto";
  } catch {
    return "auto"; // Storage may be forbidden, in a file as in a notebook's frame.
  }
}

function keep(preference: Preference): void {
  try {
    localStorage.setItem(KEPT_AS, preference);
  } catch {
    // Then it lasts until the page is closed.
  }
}
