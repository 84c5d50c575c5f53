// Timeline: the records of an entity as marks, with a slider over them and buttons for single steps.
import type { HistoryStep } from '@svc/contract';
import { nowMs } from '../store.ts';
import { countText } from '../view/number-text.ts';
import { clockText } from '../view/time-text.ts';
import { timelineMarks, type TimelineMark } from '../view/timeline-marks.ts';
import { visibleLine } from '../view/visible-text.ts';
import { Icon } from './icon.tsx';

export function Timeline({
  total,
  seq,
  steps,
  isPlaying,
  isFollowing,
  travel,
  play,
}: {
  readonly total: number;
  readonly seq: number;
  readonly steps: ReadonlyMap<number, HistoryStep>;
  readonly isPlaying: boolean;
  readonly isFollowing: boolean;
  readonly travel: (seq: number, follows?: boolean) => void;
  readonly play: () => void;
}) {
  const step = steps.get(seq);
  const controls = [
    ['First event', 'first', 1, seq === 1],
    ['One event back', 'back', seq - 1, seq === 1],
    ['One event forward', 'forward', seq + 1, seq === total],
    ['Last event', 'last', total, seq === total],
  ] as const;
  const button = ([label, icon, target, isOff]: (typeof controls)[number]) => (
    <button
      key={label}
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={() => travel(target)}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="timeline" role="group" aria-label="Time travel">
      <div class="timeline-strip">
        <div class="marks" aria-hidden="true">
          {timelineMarks(total).map((mark) => (
            <span
              key={mark.first}
              class={markClass(mark, seq, steps)}
              style={{ left: `${mark.position}%` }}
            />
          ))}
        </div>
        <input
          type="range"
          min={1}
          max={total}
          step={1}
          value={seq}
          aria-label="Event"
          aria-valuetext={valueText(seq, total, step)}
          onInput={(event) => travel(Number(event.currentTarget.value))}
        />
      </div>
      <div class="timeline-controls">
        {button(controls[0])}
        {button(controls[1])}
        <button
          type="button"
          class="icon-button"
          aria-label={isPlaying ? 'Stop' : 'Play'}
          title={isPlaying ? 'Stop' : 'Play, four events a second'}
          onClick={play}
        >
          <Icon name={isPlaying ? 'stop' : 'play'} />
        </button>
        {button(controls[2])}
        {button(controls[3])}
        <output class="number place-text">
          <strong>{countText(seq)}</strong> of {countText(total)}
        </output>
        <button
          type="button"
          class="quiet follow"
          aria-pressed={isFollowing}
          title="Shows what is stored as it comes"
          onClick={() => travel(isFollowing ? seq : total, !isFollowing)}
        >
          Follow
        </button>
      </div>
    </div>
  );
}

function markClass(
  { first, last }: TimelineMark,
  seq: number,
  steps: ReadonlyMap<number, HistoryStep>,
): string {
  const words = ['mark'];
  if (last < seq) words.push('is-past');
  if (first <= seq && seq <= last) words.push('is-chosen');
  if (first !== last) words.push('is-group');
  for (let at = first; at <= last; at++) {
    const step = steps.get(at);
    if (step === undefined) continue;
    if (step.kind !== 'event') words.push(`is-${step.kind}`);
    else if (step.problem !== null) words.push('is-damaged');
  }
  return words.join(' ');
}

function valueText(seq: number, total: number, step: HistoryStep | undefined): string {
  const position = `event ${seq} of ${total}`;
  if (step === undefined) return position;
  const what = step.type ?? step.manifest ?? step.kind;
  const time = step.time === null ? '' : `, ${clockText(step.time, nowMs.value)}`;
  return `${position}, ${visibleLine(what)}${time}`;
}
