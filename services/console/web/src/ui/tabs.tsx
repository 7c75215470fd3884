/** Tabs as links, so that each has a URL and the keys of links. */
export function Tabs({ tabs, current, link }: { tabs: { id: string; label: string }[]; current: string; link: (id: string) => string }) {
  return (
    <nav class="tabs" aria-label="Views">
      {tabs.map((tab) => (
        <a key={tab.id} href={link(tab.id)} aria-current={tab.id === current ? "page" : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
