// TextBlock: an untrusted text, shortened if it is long; the user can expand it.
import { useState } from 'preact/hooks';
import { bytesText } from '../view/number-text.ts';
import { cutText, isCut, visibleText } from '../view/visible-text.ts';

export function TextBlock({
  text,
  label,
  class: className = '',
}: {
  readonly text: string;
  /** Accessible name of the block, which the keyboard can reach because it scrolls. */
  readonly label: string;
  readonly class?: string;
}) {
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="text-block">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <pre class={className} tabIndex={0} role="region" aria-label={label}>
        {visibleText(isWhole ? text : cutText(text))}
      </pre>
      {!isWhole && isCut(text) && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all ({bytesText(text.length)})
        </button>
      )}
    </div>
  );
}
