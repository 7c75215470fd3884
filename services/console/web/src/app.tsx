import { useEffect, useState } from "preact/hooks";
import { hasSession, login, whenLoggedOut } from "./api/client";
import { Access } from "./pages/access/access";
import { Explorer } from "./pages/explorer/explorer";
import { Login } from "./pages/login";
import { MeshPage } from "./pages/mesh/mesh";
import { ObjectPage } from "./pages/object/object";
import { Objects } from "./pages/objects/objects";
import { Policies } from "./pages/policies/policies";
import { go, useRoute, type Route } from "./router";
import { Shell } from "./ui/shell";

/** The one-time login in the URL, which is removed from the history at once. */
function takeSecret(): string | undefined {
  const secret = /^#login=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (secret) history.replaceState(null, "", "#/mesh");
  return secret;
}

const secret = takeSecret();

export function App() {
  const [state, setState] = useState<"starting" | "in" | "out">(secret ? "starting" : hasSession() ? "in" : "out");
  const [problem, setProblem] = useState("");
  const route = useRoute();

  useEffect(() => {
    whenLoggedOut(() => setState("out"));
    if (!secret) return;
    login({ secret }).then(
      () => setState("in"),
      (error: Error) => {
        setProblem(error.message);
        setState("out");
      },
    );
  }, []);

  if (state === "starting") return <p class="centered muted">Logging in…</p>;
  if (state === "out") {
    return (
      <Login
        problem={problem}
        onLogin={() => {
          setProblem("");
          setState("in");
          if (!location.hash) go("#/mesh", true);
        }}
      />
    );
  }
  return (
    <Shell page={route.page}>
      <Page route={route} />
    </Shell>
  );
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "objects":
      return <Objects route={route} />;
    case "object":
      return <ObjectPage key={route.parts.join("/")} route={route} />;
    case "explorer":
      return <Explorer route={route} />;
    case "access":
      return <Access route={route} />;
    case "policies":
      return <Policies route={route} />;
    default:
      return <MeshPage />;
  }
}
