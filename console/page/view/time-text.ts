// TimeText: times for people, in the time zone of the browser. The functions are pure: the current time is an
// argument.
import { spanText } from './number-text.ts';

/** Returns '12:03:04', with the day if it is not today. */
export function clockText(time: string | number, nowMs: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return dayOf(at) === dayOf(new Date(nowMs)) ? clock : `${dayOf(at)} ${clock}`;
}

/** Returns '12:03:04.567'. */
export function preciseClockText(time: string | number, nowMs: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  return `${clockText(time, nowMs)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** Returns 'just now', '3 min 2 s ago'. */
export function agoText(time: string | number, nowMs: number): string {
  const ms = nowMs - new Date(time).getTime();
  return ms < 1000 ? 'just now' : `${spanText(ms)} ago`;
}

function dayOf(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(amount: number): string {
  return String(amount).padStart(2, '0');
}
