import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { logout } from "../api/client";
import { Icon, type IconName } from "./icon";
import { applyTheme, otherTheme } from "./theme";

const PAGES: { page: string; label: string; icon: IconName }[] = [
  { page: "mesh", label: "Mesh", icon: "mesh" },
  { page: "objects", label: "Objects", icon: "objects" },
  { page: "explorer", label: "API", icon: "explorer" },
  { page: "access", label: "Access", icon: "access" },
  { page: "policies", label: "Policies", icon: "policies" },
];

/** The frame of all pages: skip link, navigation, and the key "/" for the search field of the page. */
export function Shell({ page, children }: { page: string; children: ComponentChildren }) {
  const [, repaint] = useState(0);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const field = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key !== "/" || field || event.ctrlKey || event.metaKey || event.altKey) return;
      const search = document.querySelector<HTMLInputElement>("[data-search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const skip = (event: Event) => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header class="sidebar">
        <a class="brand" href="#/mesh">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <span>apimesh</span>
        </a>
        <nav aria-label="Pages">
          {PAGES.map((one) => (
            <a key={one.page} href={`#/${one.page}`} aria-current={one.page === page || (one.page === "objects" && page === "object") ? "page" : undefined}>
              <Icon name={one.icon} />
              <span>{one.label}</span>
            </a>
          ))}
        </nav>
        <div class="tools">
          <button
            type="button"
            class="quiet"
            aria-label="Switch between light and dark"
            onClick={() => {
              applyTheme(otherTheme());
              repaint((n) => n + 1);
            }}
          >
            <Icon name="moon" />
            <span>{otherTheme() === "dark" ? "Dark" : "Light"}</span>
          </button>
          <button type="button" class="quiet" onClick={() => void logout()}>
            <Icon name="logout" />
            <span>Log out</span>
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** The head of a page. */
export function Head({ title, note, children }: { title: ComponentChildren; note?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="head">
      <div>
        <h1>{title}</h1>
        {note && <p class="muted">{note}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </div>
  );
}
