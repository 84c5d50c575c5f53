// EventKey: the idempotency keys of the calls that a consumer makes for an event. They consist of consumer, entity and number
// of the event, and of what request-keys.ts adds for each call. Their answers are kept until the event is settled.
//
// A call also carries the round of the event (StoredLane), which does not belong to the key: an answer has one key in all rounds.
//
// Invariant: no caller and no module can set such a key, because it contains spaces. All keys from outside are checked to
// be visible ASCII.
import type { EntityRef } from './entity.ts';

/** A consumer and an event that it handles. */
export interface ConsumerEvent {
  readonly consumer: string;
  readonly entity: EntityRef;
  readonly seq: number;
}

/** The id of the entity comes last, because it may contain any character. */
const KEY = /^event (?<consumer>[^ ]+) (?<component>[^ ]+) (?<seq>\d+) (?<id>.*)\.[^.]+\.\d+$/s;

/** Returns the key from which those of the calls are made, by adding `.NAME.N`. */
export function eventKey({ consumer, entity, seq }: ConsumerEvent): string {
  return `event ${consumer} ${entity.component} ${seq} ${entity.id}`;
}

/** Returns the end of the keys of the calls that are made in a round. */
export function roundSuffix(round: number): string {
  return round === 0 ? '' : ` ${round}`;
}

/** Returns the key of a call under which its answer is stored, and the round in which it is made; 0 for all other calls. */
export function withoutRound(key: string): { readonly key: string; readonly round: number } {
  const at = key.lastIndexOf(' ');
  // Without a round, the last space is before the name of the command.
  if (!isEventKey(key) || at < key.lastIndexOf('.')) return { key, round: 0 };
  return { key: key.slice(0, at), round: Number(key.slice(at + 1)) };
}

/** Whether the key is that of a call for an event. */
export function isEventKey(key: string): boolean {
  return key.startsWith('event ');
}

/** Returns the event for which a call with this key was made; undefined if it was made for none. */
export function eventOfKey(key: string): ConsumerEvent | undefined {
  const found = isEventKey(key) ? KEY.exec(key)?.groups : undefined;
  if (found === undefined) return undefined;
  const { consumer = '', component = '', seq, id = '' } = found;
  return { consumer, entity: { component, id }, seq: Number(seq) };
}
