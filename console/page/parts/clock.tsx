// Clock: a time of day, with the elapsed time in its title.
import { nowMs } from '../store.ts';
import { agoText, clockText, preciseClockText } from '../view/time-text.ts';

export function Clock({
  time,
  precise = false,
}: {
  readonly time: string;
  readonly precise?: boolean;
}) {
  const now = nowMs.value;
  return (
    <time class="number" dateTime={time} title={`${time} (${agoText(time, now)})`}>
      {precise ? preciseClockText(time, now) : clockText(time, now)}
    </time>
  );
}
