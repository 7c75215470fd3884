import { useEffect, useState } from "preact/hooks";

/** A page and its parameters, as the fragment of the URL has them: "#/objects/apps/v1/deployments?ns=default". */
export interface Route {
  page: string;
  parts: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...parts] = path.split("/").map(decode);
  return { page: page || "mesh", parts, query: new URLSearchParams(query) };
}

/** The fragment of a route. Parameters without a value are left out. */
export function href(page: string, parts: string[] = [], query: Record<string, string | undefined> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value);
  const path = [page, ...parts.map(encodeURIComponent)].join("/");
  return `#/${path}${parameters.size > 0 ? `?${parameters}` : ""}`;
}

export function go(target: string, replace = false) {
  if (replace) {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = target;
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const change = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return route;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
