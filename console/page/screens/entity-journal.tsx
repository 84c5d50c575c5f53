// EntityJournal: time travel: the records of an entity on a timeline, and for the selected one its changes and the
// state after it. While the address names no record, the screen displays the newest record, also when newer ones are
// stored.
import type { HistoryStep, ServiceDescription } from '@svc/contract';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { EntityJournal } from '../entity-journal.ts';
import { Empty } from '../parts/empty.tsx';
import type { Folds } from '../parts/json-tree.tsx';
import { ChangesPane, EventPane, StatePane } from '../parts/step-panes.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { ProblemNote, Waiting } from '../parts/waiting.tsx';
import { entityView } from '../route.ts';
import { go } from '../store.ts';
import { visibleLine } from '../view/visible-text.ts';

const STEP_EVERY_MS = 250;

export function EntityJournalTab({
  service,
  component,
  id,
  at,
}: {
  readonly service: ServiceDescription;
  readonly component: string;
  readonly id: string;
  /** The selected sequence number; undefined: the newest record, also when newer ones are stored. */
  readonly at: number | undefined;
}) {
  const { instanceId } = service;
  const journal = useMemo(() => new EntityJournal(instanceId, component, id), [instanceId]);
  const [folds, setFolds] = useState<Folds>(new Map());
  const [shown, setShown] = useState<HistoryStep | undefined>(undefined);
  const [isPlaying, setPlaying] = useState(false);
  const total = journal.total.value;
  const seq = total === undefined ? undefined : Math.min(at ?? total, total);
  const step = seq === undefined ? undefined : journal.steps.value.get(seq);

  useEffect(() => {
    const stop = new AbortController();
    void journal.watch(stop.signal);
    return () => stop.abort();
  }, [journal]);
  useEffect(() => {
    if (seq === undefined || seq === 0) return undefined;
    const stop = new AbortController();
    void journal.need(seq, stop.signal);
    return () => stop.abort();
  }, [journal, seq]);
  useEffect(() => {
    if (step !== undefined) setShown(step);
  }, [step]);

  /** Selects a record. `follows`: selects the newest record, and follows newer ones. */
  const travel = (next: number, follows = false) => {
    if (total === undefined) return;
    const bounded = Math.min(total, Math.max(1, next));
    go(entityView(instanceId, component, id, follows ? undefined : bounded), true);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (seq === undefined || total === undefined || seq >= total) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => travel(seq + 1), STEP_EVERY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, seq, total]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const next = keyTarget(event, seq, total);
      if (next === undefined) return;
      event.preventDefault();
      travel(next);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [seq, total]);

  const problem = journal.problem.value;
  if (total === undefined || seq === undefined) {
    if (problem === undefined) return <Waiting rows={10} />;
    return problem.status === 404 ? <Unused id={id} /> : <ProblemNote problem={problem} />;
  }
  if (total === 0) return <Unused id={id} />;
  const play = () => {
    if (!isPlaying && seq === total) travel(1);
    setPlaying(!isPlaying);
  };
  const pane = step ?? shown;
  return (
    <>
      {problem !== undefined && <ProblemNote problem={problem} />}
      <Timeline
        total={total}
        seq={seq}
        steps={journal.steps.value}
        isPlaying={isPlaying}
        isFollowing={at === undefined}
        travel={travel}
        play={play}
      />
      {pane === undefined ? (
        <Waiting rows={8} />
      ) : (
        <div class={`panes ${step === undefined ? 'is-stale' : ''}`}>
          <div class="pane-column">
            <EventPane step={pane} service={service} />
            <ChangesPane step={pane} />
          </div>
          <StatePane
            step={pane}
            command={`npx svc entity .svc/${service.name} ${component} ${id} --module MODULE.wasm`}
            folds={folds}
            onFold={(path, isOpen) => setFolds(new Map(folds).set(path, isOpen))}
          />
        </div>
      )}
    </>
  );
}

function Unused({ id }: { readonly id: string }) {
  return (
    <Empty title={`${visibleLine(id)} has no events.`}>
      <p class="dim">It has the empty state. Its queries under “Now” answer from that.</p>
    </Empty>
  );
}

/**
 * Returns the sequence number that an arrow key, Home or End selects; the caller limits it to the existing records.
 * Undefined: the key is another one or has a modifier, the element with the focus uses the key itself, or the records
 * are not loaded yet.
 */
function keyTarget(
  event: KeyboardEvent,
  seq: number | undefined,
  total: number | undefined,
): number | undefined {
  if (seq === undefined || total === undefined || event.defaultPrevented) return undefined;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return undefined;
  const isTaken =
    event.target instanceof Element &&
    event.target.closest('input, textarea, select, dialog, [role=tree], [role=region]') !== null;
  if (isTaken) return undefined;
  switch (event.key) {
    case 'ArrowLeft':
      return seq - 1;
    case 'ArrowRight':
      return seq + 1;
    case 'Home':
      return 1;
    case 'End':
      return total;
    default:
      return undefined;
  }
}
