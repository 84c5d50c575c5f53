// FrameMutations make of frames of the process protocol what no side would send: frames that are dropped, repeated, in another order, of another kind, with other
// numbers and texts, and bytes that are no message.
import type { Json, JsonObject } from '../../suites/process-protocol/frame-text.ts';
import { encodedMessage } from '../../suites/process-protocol/frame-text.ts';
import { havoc } from '../fuzz/fuzz-target.ts';
import type { Random } from '../random.ts';

const NUMBERS = [
  0,
  1,
  2,
  3,
  7,
  100,
  2 ** 31 - 1,
  2 ** 32 - 1,
  2 ** 53 - 1,
  2 ** 53,
  -1,
  -(2 ** 53),
];
const TEXTS = [
  '',
  'null',
  '{',
  '[]',
  '{"type":"added"}',
  '{"type":"added","amount":1}',
  '{"__proto__":{"type":"added"}}',
  '"\\ud800"',
  '\uD800',
  'a\uDC00b',
  '\u0000',
  '1e999',
  'constructor',
  '['.repeat(2_000),
  '{"a":'.repeat(1_000),
  'x'.repeat(5_000),
];
/** Messages that are none, and lengths without their bytes. */
const NO_MESSAGES = [
  '0affffffff07',
  '0a8080808010',
  '0a',
  '08',
  '0a0208',
  'ffffffffffffffffffff01',
  '0a0b6a',
  '0b',
];
const FLOOD = 200;
/** One text in so many is as long as this. */
const LONG_EVERY = 500;
const LONG = 3_000_000;
/** Most frames of a message. */
const TOGETHER = 8;

export interface MutationShares {
  /** In a thousand frames: those that are changed. */
  readonly frames: number;
  /** In a thousand messages: those whose bytes are changed. */
  readonly bytes: number;
}

/** Returns messages made of the frames, and how many frames these are. `others`: frames of which parts are taken. */
export function mutatedMessages(
  random: Random,
  kind: 'ToProcess' | 'FromProcess',
  frames: readonly JsonObject[],
  others: readonly JsonObject[],
  shares: MutationShares,
): { readonly messages: readonly Buffer[]; readonly count: number } {
  const changed = frames.flatMap((frame) => {
    if (random.below(1_000) >= shares.frames) return [frame];
    const made = changedFrames(random, frame, others);
    return isEncodable(kind, made) ? made : [frame];
  });
  const messages: Buffer[] = [];
  for (let at = 0; at < changed.length;) {
    const next = at + 1 + random.below(TOGETHER);
    const message = encodedMessage(kind, changed.slice(at, next));
    messages.push(random.below(1_000) < shares.bytes ? changedBytes(random, message) : message);
    at = next;
  }
  return { messages, count: changed.length };
}

/** Returns whether the frames have only values that their fields can have. */
function isEncodable(kind: 'ToProcess' | 'FromProcess', frames: readonly JsonObject[]): boolean {
  try {
    encodedMessage(kind, frames);
    return true;
  } catch {
    return false;
  }
}

function changedBytes(random: Random, message: Buffer): Buffer {
  // Long texts are changed in their frames: to change their bytes one by one takes too long.
  if (random.chance(20) || message.length > 4_096)
    return Buffer.from(random.pick(NO_MESSAGES), 'hex');
  return Buffer.from(havoc(random, message));
}

function changedFrames(
  random: Random,
  frame: JsonObject,
  others: readonly JsonObject[],
): readonly JsonObject[] {
  switch (random.below(9)) {
    case 0:
      return [];
    case 1:
      return [frame, frame];
    case 2:
      return [random.pick(others), frame];
    case 3:
      return random.chance(5) ? Array.from({ length: FLOOD }, () => frame) : [frame, frame, frame];
    case 4:
      return [{ ...random.pick(others), call: frame.call, entity: frame.entity }];
    case 5:
      return [{ ...frame, call: random.pick(NUMBERS) }];
    case 6:
      return [{ ...frame, entity: random.pick(NUMBERS) }];
    default:
      return [changedValue(random, frame)];
  }
}

/** Returns the frame with another value in it, or without a part. */
function changedValue(random: Random, frame: JsonObject): JsonObject {
  const copy = structuredClone(frame) as Record<string, Json>;
  const spots: (readonly [Record<string, Json>, string])[] = [];
  const walk = (parent: Record<string, Json>): void => {
    for (const [name, value] of Object.entries(parent)) {
      spots.push([parent, name]);
      if (typeof value === 'object' && value !== null) walk(value as Record<string, Json>);
    }
  };
  walk(copy);
  if (spots.length === 0) return copy;
  const [parent, name] = random.pick(spots);
  const value = parent[name];
  if (typeof value === 'string')
    parent[name] = random.below(LONG_EVERY) === 0 ? 'x'.repeat(LONG) : random.pick(TEXTS);
  else if (typeof value === 'number') parent[name] = random.pick(NUMBERS);
  else if (Array.isArray(value)) parent[name] = random.chance(50) ? [] : [...value, ...value];
  else if (typeof value === 'boolean') parent[name] = !value;
  else if (random.chance(50) && !Array.isArray(parent)) delete parent[name];
  else parent[name] = {};
  return copy;
}
