import { useEffect, useState } from "preact/hooks";

export interface Loaded<T> {
  value?: T;
  error?: unknown;
  loading: boolean;
  reload: () => void;
}

/** Loads something when `inputs` change. The signal is aborted when the result is no longer needed. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown; loading: boolean }>({ loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ value: old.value, loading: true }));
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, loading: false }),
      (error: unknown) => !abort.signal.aborted && setState({ error, loading: false }),
    );
    return () => abort.abort();
  }, [...inputs, round]);
  return { ...state, reload: () => setRound((n) => n + 1) };
}

/** The time, which changes every `every` milliseconds. */
export function useNow(every: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** A value that follows `value` when it has not changed for some time. */
export function useSettled<T>(value: T, milliseconds = 120): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
