/** Moves the focus between the elements of a list with the arrow keys, Home and End. */
export function moveFocus(selector: string) {
  return (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)];
    const index = items.indexOf(document.activeElement as HTMLElement);
    if (index < 0) return;
    let next = steps[event.key] === undefined ? -1 : index + steps[event.key]!;
    if (event.key === "Home") next = 0;
    if (event.key === "End") next = items.length - 1;
    const target = items[next];
    if (!target) return;
    event.preventDefault();
    target.focus();
  };
}
