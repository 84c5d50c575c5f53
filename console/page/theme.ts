// Theme: the colours of the page, which the user or the operating system chooses; the browser stores the user's choice.
import { signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Key of localStorage for the user's choice. */
const STORAGE_KEY = 'svc-console-theme';

export const theme = signal<Theme>('auto');

export function applyKeptTheme(): void {
  const kept = localStorage.getItem(STORAGE_KEY);
  setTheme(THEMES.find((word) => word === kept) ?? 'auto');
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  setTheme(next);
  localStorage.setItem(STORAGE_KEY, next);
  return next;
}

function setTheme(chosen: Theme): void {
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
}
