// Icon: the icons of the page, drawn with one line width. Each icon stands beside a text, or in a control with a label,
// that says the same.
const PATHS = {
  mark: 'M2 10h3l2.5-6 3 12 2.5-8 1.5 4H18',
  auto: 'M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14',
  light:
    'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M4 16l1.4-1.4M14.6 5.4L16 4',
  dark: 'M16.5 12A7 7 0 0 1 8 3.5 7 7 0 1 0 16.5 12z',
  keys: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  services: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  overview: 'M3 12.5l4-5 3.5 4 2.5-3 4 5M3 17h14',
  routes: 'M4 4v5a3 3 0 0 0 3 3h9M13 8.5l3.5 3.5-3.5 3.5',
  traces: 'M3 5h8M6 10h9M9 15h8',
  trace: 'M3 5h8M6 10h9M9 15h8',
  entities: 'M10 2.5l6.5 3.7v7.6L10 17.5l-6.5-3.7V6.2zM3.5 6.2L10 10l6.5-3.8M10 10v7.5',
  views: 'M3 4h14v12H3zM3 8h14M3 12h14M8 8v8',
  timers: 'M10 5.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM10 8.5v3l2 1.5M8 2.5h4',
  consumers: 'M3 6h7M3 10h7M3 14h7M12 6l5 4-5 4',
  faults: 'M10 3l7.5 13.5h-15zM10 8v4M10 14.2h.01',
  webhooks:
    'M7.2 8.6a3.2 3.2 0 1 1 5.2-.4L15 12.6M12.8 15.4a3.2 3.2 0 1 0 1.3-4.6M8 6.5l-2.8 5M4.6 11.4a3.2 3.2 0 1 0 3.6 3.9h4.4',
  copy: 'M7 7h9v10H7zM4 13V3h9',
  done: 'M4 10.5l4 4 8-9',
  first: 'M5 4v12M16 4l-8 6 8 6z',
  back: 'M14 4l-8 6 8 6z',
  play: 'M6 4l9 6-9 6z',
  stop: 'M5.5 5.5h9v9h-9z',
  forward: 'M6 4l8 6-8 6z',
  last: 'M15 4v12M4 4l8 6-8 6z',
  up: 'M5 12.5l5-5 5 5',
  down: 'M5 7.5l5 5 5-5',
  remove: 'M5 5l10 10M15 5L5 15',
  add: 'M10 4v12M4 10h12',
} as const;

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
