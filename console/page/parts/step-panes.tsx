// StepPanes: the details of one record, its changes, and the state after it.
import type { HistoryStep, ServiceDescription } from '@svc/contract';
import { useEffect, useRef } from 'preact/hooks';
import { hashOf } from '../route.ts';
import { amountText } from '../view/number-text.ts';
import { changeKind, pathOfChange, stateMarks } from '../view/state-marks.ts';
import { cutText, visibleLine, visibleText } from '../view/visible-text.ts';
import { Clock } from './clock.tsx';
import { CommandLine } from './empty.tsx';
import { JsonTree, type Folds } from './json-tree.tsx';

export function EventPane({
  step,
  service,
}: {
  readonly step: HistoryStep;
  readonly service: ServiceDescription;
}) {
  return (
    <section class="pane card" aria-labelledby="pane-event">
      <h3 id="pane-event">
        Event <span class="number">{step.seq}</span>{' '}
        <span class="event-type">{visibleLine(titleOf(step))}</span>
      </h3>
      <dl class="facts is-row">
        {step.time !== null && (
          <div>
            <dt>stored</dt>
            <dd>
              <Clock time={step.time} precise />
            </dd>
          </div>
        )}
        {step.manifest !== null && (
          <div>
            <dt>manifest</dt>
            <dd>
              <code>{visibleLine(step.manifest)}</code>
            </dd>
          </div>
        )}
        {step.by && (
          <div>
            <dt>by</dt>
            <dd>
              <code>{visibleLine(step.by.subject)}</code>{' '}
              <span class="dim">{visibleLine(step.by.issuer)}</span>
            </dd>
          </div>
        )}
        {step.traceId !== null && (
          <div>
            <dt>trace</dt>
            <dd>
              <a
                href={hashOf({
                  screen: 'trace',
                  instanceId: service.instanceId,
                  traceId: step.traceId,
                })}
              >
                {step.traceId.slice(0, 8)}…
              </a>
            </dd>
          </div>
        )}
        {step.key !== null && (
          <div>
            <dt>idempotency key</dt>
            <dd>
              <code>{visibleLine(step.key)}</code>
            </dd>
          </div>
        )}
      </dl>
      {step.event !== null && <JsonTree text={step.event} label="event" />}
    </section>
  );
}

function titleOf({ kind, type, manifest }: HistoryStep): string {
  if (kind === 'deleted') return '⌫ the entity was deleted';
  if (kind === 'damaged') return '⚠ this record is damaged';
  return type ?? manifest ?? '';
}

const SIGNS = { added: '+', removed: '−', changed: '~' } as const;

export function ChangesPane({ step }: { readonly step: HistoryStep }) {
  const { changes, moreChanges } = step;
  return (
    <section class="pane card" aria-labelledby="pane-changes">
      <h3 id="pane-changes">
        What changed{' '}
        {changes.length > 0 && <span class="count">{changes.length + moreChanges}</span>}
      </h3>
      {changes.length === 0 && moreChanges === 0 && (
        <p class="dim">
          {step.state === null && !step.stateCut ? 'Not known.' : 'Nothing in the state.'}
        </p>
      )}
      <ul class="changes">
        {changes.map((change) => {
          const kind = changeKind(change);
          return (
            <li key={change.path} class={`is-${kind}`}>
              <span class="sign" aria-hidden="true">
                {SIGNS[kind]}
              </span>
              <span class="unseen">{kind} </span>
              <code class="path">
                {visibleLine(pathOfChange(change.path) || 'the whole state')}
              </code>
              <span class="values">
                {change.before !== null && (
                  <del>
                    <span class="unseen">before </span>
                    {visibleLine(cutText(change.before))}
                  </del>
                )}
                {kind === 'changed' && (
                  <span class="dim" aria-hidden="true">
                    →
                  </span>
                )}
                {change.after !== null && (
                  <ins>
                    <span class="unseen">after </span>
                    {visibleLine(cutText(change.after))}
                  </ins>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      {moreChanges > 0 && <p class="dim">and {amountText(moreChanges, 'more change')}</p>}
    </section>
  );
}

export function StatePane({
  step,
  command,
  folds,
  onFold,
}: {
  readonly step: HistoryStep;
  /** Command that prints the whole state of the entity at the end of its history, in a terminal. */
  readonly command: string;
  readonly folds: Folds;
  readonly onFold: (path: string, isOpen: boolean) => void;
}) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => showFirstChange(pane.current), [step]);
  return (
    <section class="pane card state-pane" aria-labelledby="pane-state" ref={pane}>
      <h3 id="pane-state">State after it</h3>
      {step.problem !== null && (
        <p class="problem-note">
          Not known from here on: <span class="guest-words">{visibleText(step.problem)}</span>
        </p>
      )}
      {step.stateCut && (
        <>
          <p class="dim">The state is too large to be shown here. The whole of it:</p>
          <CommandLine line={command} />
        </>
      )}
      {step.state !== null && (
        <JsonTree
          text={step.state}
          label="state"
          marks={stateMarks(step.changes)}
          folds={folds}
          onFold={onFold}
          openDepth={2}
        />
      )}
    </section>
  );
}

/** Scrolls to the first added or changed value, within the pane alone: the page itself does not scroll. */
function showFirstChange(pane: HTMLElement | null): void {
  const box = pane?.querySelector('.json-box');
  const change = box?.querySelector('.is-added, .is-changed');
  if (!(box instanceof HTMLElement) || !change) return;
  const [outer, inner] = [box.getBoundingClientRect(), change.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    box.scrollTop += inner.top - outer.top - outer.height / 3;
}
