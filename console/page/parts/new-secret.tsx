// NewSecret: the secret of a subscription that was just created or rotated. The secret is in the state of the screen alone:
// it is gone when the user leaves the screen, and no other answer has it.
import { useEffect, useRef } from 'preact/hooks';
import type { Subscription } from '@svc/client';
import { announce } from '../store.ts';
import { visibleLine } from '../view/visible-text.ts';
import { CopyButton } from './copy.tsx';

export function NewSecret({
  subscription: { url, secret = '' },
  stored,
}: {
  readonly subscription: Subscription;
  /** Called when the user has stored the secret, or leaves the page: the secret must not be displayed any more. */
  readonly stored: () => void;
}) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus();
    announce('The secret is shown once. Store it now.');
    // A browser may keep the page to display it again when the user goes back to it.
    addEventListener('pagehide', stored);
    return () => removeEventListener('pagehide', stored);
  }, []);
  return (
    <section ref={panel} class="card new-secret" tabIndex={-1} aria-labelledby="secret-title">
      <h2 id="secret-title">The secret of {visibleLine(url)}</h2>
      <p>
        Store it now where the receiver reads it: it is shown this once. If it gets lost, rotate it.
      </p>
      <p class="secret-line">
        <code>{visibleLine(secret)}</code>
        <CopyButton text={secret} what="secret" label="Copy" />
      </p>
      <p class="actions">
        <button type="button" class="primary" onClick={stored}>
          I have stored it
        </button>
      </p>
    </section>
  );
}
