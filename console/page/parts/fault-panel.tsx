// FaultPanel: the details of a failed or refused invocation: the guest's log lines, its message and its source
// locations first, then the runtime's reason, the limit, what to do, and the error id.
import type { Outcome, SpanFault } from '@svc/contract';
import { faultAdvice, locationText } from '../view/fault-advice.ts';
import { logLinesShown } from '../view/fault-words.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';
import { CopyButton } from './copy.tsx';

export function FaultPanel({
  fault,
  outcome,
  title,
}: {
  readonly fault: SpanFault;
  readonly outcome: Outcome;
  readonly title?: string;
}) {
  const { word, advice } = faultAdvice(fault, outcome === 'Refused');
  const { places: locations, guestMessage, reason, limit, errorId } = fault;
  const logLines = logLinesShown(fault);
  return (
    <section class={`fault-panel is-${outcome}`} aria-label={title ?? 'Fault'}>
      <p class="fault-title">
        {title !== undefined && <>{title} · </>}
        <span class="fault-word">{visibleLine(word)}</span>
      </p>
      {logLines.length > 0 && (
        <ol class="log-lines" aria-label="Log lines before the fault">
          {logLines.map((line, at) => (
            <li key={at}>{line}</li>
          ))}
        </ol>
      )}
      {guestMessage !== null && (
        <blockquote class="guest-words">{visibleText(guestMessage)}</blockquote>
      )}
      {locations.length > 0 && (
        <ol class="places" aria-label="Source locations">
          {locations.map((location, at) => (
            <li key={at}>
              <code class="place">{visibleLine(locationText(location))}</code>
              {location.function !== null && (
                <span class="dim"> in {visibleLine(location.function)}</span>
              )}
              {at === 0 && <CopyButton text={locationText(location)} what="location" />}
            </li>
          ))}
        </ol>
      )}
      {reason !== guestMessage && <p class="reason">{visibleText(reason)}</p>}
      {limit !== null && (
        <p>
          Limit: <code>{visibleLine(limit)}</code>
        </p>
      )}
      <p class="advice">{advice}</p>
      {errorId !== null && (
        <p class="dim">
          error id <code>{visibleLine(errorId)}</code>
        </p>
      )}
    </section>
  );
}
