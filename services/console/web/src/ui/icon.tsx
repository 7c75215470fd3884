const PATHS = {
  mesh: "M12 4 5 18h14zM12 4v8M5 18l7-6 7 6",
  objects: "M4 5h16M4 10h16M4 15h16M4 20h10",
  explorer: "M8 8l-4 4 4 4M16 8l4 4-4 4M13 5l-2 14",
  access: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
  policies: "M5 4h14v16H5zM9 9h6M9 13h6M9 17h3",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4",
  moon: "M19 14A8 8 0 0 1 10 5a8 8 0 1 0 9 9z",
  logout: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  back: "M15 5l-7 7 7 7",
  alert: "M12 4 3 20h18zM12 10v5M12 17.5v.5",
  check: "M5 12l5 5 9-10",
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}
