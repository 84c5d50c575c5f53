// Copy: a button that copies a text and confirms it.
import { useEffect, useState } from 'preact/hooks';
import { announce } from '../store.ts';
import { Icon } from './icon.tsx';

export function CopyButton({
  text,
  what,
  label,
}: {
  readonly text: string;
  /** Name of the text, in the tooltip and for screen readers: 'address'. */
  readonly what: string;
  /** Text of the button; without it, the button has an icon alone. */
  readonly label?: string;
}) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => {
        setDone(true);
        announce(`${what} copied`);
      },
      () => announce(`the browser does not let the ${what} be copied`),
    );
  };
  return (
    <button
      type="button"
      class={label === undefined ? 'icon-button copy' : 'quiet copy'}
      aria-label={label === undefined ? `Copy ${what}` : undefined}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={isDone ? 'done' : 'copy'} />
      {label !== undefined && (isDone ? 'Copied' : label)}
    </button>
  );
}
