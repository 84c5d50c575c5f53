// Empty: the content of a screen that has no data, with what to do about it.
import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy.tsx';

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Displays a command line for a terminal. */
export function CommandLine({ line }: { readonly line: string }) {
  return (
    <div class="command-line">
      <code>{line}</code>
      <CopyButton text={line} what="command" />
    </div>
  );
}
