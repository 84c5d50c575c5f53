// A text of somebody else: as it is, cut where it is long, and shown whole when that is asked for.
import { useState } from 'preact/hooks';
import { bytesText } from '../view/number-text.ts';
import { cutText, isCut, visibleText } from '../view/visible-text.ts';

export function TextBlock({
  text,
  label,
  class: className = '',
}: {
  readonly text: string;
  /** A block that scrolls can be reached by the keyboard, under this name. */
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
