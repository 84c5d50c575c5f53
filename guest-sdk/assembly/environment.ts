// The functions behind `abort`, `console.*`, `Date.now`, `Math.random` and `trace`: the compiler replaces the imports
// of the standard library by calls of these functions.
import { clock } from "./host";
import { LEVEL_DEBUG, LEVEL_ERROR, LEVEL_INFO, LEVEL_WARN, log } from "./log";

export function env_abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message !== null ? message : "no message";
  const where = file !== null ? file : "an unknown file";
  log.addLast("abort: " + what + " at " + where + ":" + line.toString() + ":" + column.toString());
  unreachable();
}

export function env_debug(message: string): void {
  log.add(LEVEL_DEBUG, message);
}

export function env_info(message: string): void {
  log.add(LEVEL_INFO, message);
}

export function env_warn(message: string): void {
  log.add(LEVEL_WARN, message);
}

export function env_error(message: string): void {
  log.add(LEVEL_ERROR, message);
}

export function env_assert(holds: i32, message: string): void {
  if (!holds) log.add(LEVEL_ERROR, "assertion failed: " + message);
}

export function env_now(): f64 {
  return <f64>clock.nowMs();
}

/** `Math.random()` calls this where it has no seed: while the module starts, and while events are folded (`unseed`). */
export function env_seed(): f64 {
  throw new Error(
    "there are no random numbers in 'empty', 'apply' and the methods of a view, nor while the module starts: draw the number in a command, and put it into the event",
  );
}

/**
 * Removes the seed that an earlier call gave `Math.random()`, so that a fold of the same events gives the same state
 * whatever ran before. The compiler writes the body, which clears the standard library's flag that a seed is set.
 */
export function unseed(): void {}

export function env_trace(message: string, count: i32, a: f64, b: f64, c: f64, d: f64, e: f64): void {
  let line = message;
  if (count > 0) line += " " + a.toString();
  if (count > 1) line += " " + b.toString();
  if (count > 2) line += " " + c.toString();
  if (count > 3) line += " " + d.toString();
  if (count > 4) line += " " + e.toString();
  log.add(LEVEL_DEBUG, line);
}
