// What a screen says when it has nothing to show, and what to do about it.
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

/** A line for a terminal. */
export function CommandLine({ line }: { readonly line: string }) {
  return (
    <div class="command-line">
      <code>{line}</code>
      <CopyButton text={line} what="command" />
    </div>
  );
}
