// Theme: the colours, as the operating system or the user has chosen them; the browser stores the user's choice.
import { signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEPT = 'svc-console-theme';

export const theme = signal<Theme>('auto');

export function applyKeptTheme(): void {
  const kept = localStorage.getItem(KEPT);
  setTheme(THEMES.find((word) => word === kept) ?? 'auto');
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  setTheme(next);
  localStorage.setItem(KEPT, next);
  return next;
}

function setTheme(chosen: Theme): void {
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
}
