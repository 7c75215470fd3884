import { useState } from "preact/hooks";
import { login } from "../api/client";

export function Login({ problem, onLogin }: { problem: string; onLogin: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState(problem);
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await login({ token: token.trim() });
      onLogin();
    } catch (failure) {
      setError((failure as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={submit}>
        <img src="/icon.svg" alt="" width="48" height="48" />
        <h1>apimesh console</h1>
        <p class="muted">
          The command <code>apimesh console</code> prints a link that logs you in with your kubeconfig. Or use a bearer token, for example that of{" "}
          <code>kubectl create token</code>.
        </p>
        <label for="token">Bearer token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="primary" disabled={busy || token.trim() === ""}>
          {busy ? "Checking…" : "Log in"}
        </button>
      </form>
    </main>
  );
}
