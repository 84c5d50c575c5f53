// Keys: the keyboard shortcuts. Keys without a modifier do nothing while the user types, and can be switched off;
// Escape works in both cases, but is left to the browser within a dialog. Attributes of the page mark the elements that
// keys act on: data-filter, data-row, data-back.
import { signal } from '@preact/signals';
import { isOfService } from './route.ts';
import { SECTIONS } from './sections.ts';
import { go, services, view } from './store.ts';
import { soleService } from './view/known-services.ts';

/** Key of localStorage for the switch of single letters. */
const STORAGE_KEY = 'svc-console-keys';
/** Maximum time between the two keys of a shortcut such as 'g s'. */
const CHORD_MS = 1500;

/** The shortcuts and their meanings, as the user reads them. Screens and browser handle Enter and the last three. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['?', 'this list'],
  ['/', 'to the filter of this screen'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open'],
  ['Esc', 'close, or back'],
  ['g s', 'services'],
  ['g w', 'webhooks'],
  ...SECTIONS.map(({ key, name }) => [`g ${key}`, name.toLowerCase()] as const),
  ['← →', 'one event back, one on (in time travel)'],
  ['Home End', 'first and last event'],
  ['Ctrl Enter', 'send (in a form)'],
];

export const lettersAreOn = signal(true);
export const keysAreShown = signal(false);

export function applyKeptKeys(): void {
  lettersAreOn.value = localStorage.getItem(STORAGE_KEY) !== 'off';
}

export function switchLetters(areOn: boolean): void {
  lettersAreOn.value = areOn;
  localStorage.setItem(STORAGE_KEY, areOn ? 'on' : 'off');
}

/** When 'g' was pressed, by `event.timeStamp`; -Infinity if no second key is expected. */
let chordMs = -Infinity;

export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target instanceof Element ? event.target : undefined;
  if (event.key === 'Escape') {
    if (target?.closest('dialog') === null) back(target);
    return;
  }
  if (!lettersAreOn.value || keysAreShown.value || (target !== undefined && isTyping(target)))
    return;
  const isChord = event.timeStamp - chordMs < CHORD_MS;
  chordMs = -Infinity;
  if (isChord ? goTo(event.key) : act(event.key, event.timeStamp)) event.preventDefault();
}

/** Acts on a single key. Returns whether the key has a meaning here. */
function act(key: string, atMs: number): boolean {
  switch (key) {
    case 'g':
      chordMs = atMs;
      return true;
    case '?':
      keysAreShown.value = true;
      return true;
    case '/':
      return focusOn(document.querySelector('[data-filter]'));
    case 'j':
      return step(1);
    case 'k':
      return step(-1);
    default:
      return false;
  }
}

/** Opens the screen of a key that follows 'g'. Returns whether there is one. */
function goTo(key: string): boolean {
  if (key === 's') {
    go({ screen: 'services' });
    return true;
  }
  if (key === 'w') {
    go({ screen: 'webhooks' });
    return true;
  }
  const section = SECTIONS.find((candidate) => candidate.key === key);
  const instanceId = chosenInstance();
  if (section === undefined || instanceId === undefined) return false;
  go(section.viewOf(instanceId));
  return true;
}

function chosenInstance(): string | undefined {
  const now = view.value;
  return isOfService(now) ? now.instanceId : soleService(services.value)?.instanceId;
}

function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by;
  return focusOn(rows[next] ?? null);
}

function back(target: Element | undefined): void {
  if (target !== undefined && isTyping(target) && target instanceof HTMLElement) target.blur();
  else document.querySelector<HTMLElement>('[data-back]')?.click();
}

function focusOn(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  return true;
}

function isTyping(target: Element): boolean {
  return target.matches(
    'textarea, select, [contenteditable], input:not([type=checkbox], [type=range], [type=radio])',
  );
}
