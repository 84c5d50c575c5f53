// EventFile: events of entities as lines of JSON, as `svc journal export` writes them: what it takes of a
// line is `component`, `id`, `kind`, `manifest` and `event`. An entity's lines stand in their order.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { EntityRef, StoredEvent } from '../model/entity.ts';
import type { ModuleDescriptor } from '@svc/contract';
import { SvcError } from '../model/svc-error.ts';
import { type FoldedLife, lifeOf } from './folded-life.ts';

interface Line {
  readonly component?: unknown;
  readonly id?: unknown;
  readonly kind?: unknown;
  readonly manifest?: unknown;
  readonly event?: unknown;
}

/** The present lives. A line without a manifest has that of the module. Throws SVC_EVENTS_INVALID. */
export async function livesOfFile(
  path: string,
  descriptor: ModuleDescriptor,
): Promise<readonly FoldedLife[]> {
  const lives = new Map<string, { entity: EntityRef; seq: number; events: StoredEvent[] }>();
  const manifests = new Map(
    descriptor.entities.map(({ component, event }) => [component, event.manifest] as const),
  );
  let number = 0;
  for await (const text of linesOf(path)) {
    number++;
    if (text.trim() === '') continue;
    const { component, id, kind = 'event', manifest, event } = lineOf(path, number, text);
    if (typeof component !== 'string' || typeof id !== 'string')
      throw invalid(path, number, 'it has no component and id');
    // A line that tells of the file, of the module that wrote it or of an answer.
    if (kind !== 'event' && kind !== 'deleted') continue;
    const key = `${component}\n${id}`;
    const life = lives.get(key) ?? { entity: { component, id }, seq: 0, events: [] };
    lives.set(key, life);
    life.seq++;
    if (kind === 'deleted') {
      life.events = [];
      continue;
    }
    const own = manifest ?? manifests.get(component) ?? '';
    if (typeof own !== 'string' || typeof event !== 'object' || event === null)
      throw invalid(path, number, 'it has no event');
    life.events.push({ manifest: own, json: JSON.stringify(event) });
  }
  return [...lives.values()]
    .filter(({ events }) => events.length > 0)
    .map(({ entity, seq, events }) => lifeOf(entity, events, seq - events.length + 1));
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, 'utf8');
  try {
    yield* createInterface({ input, crlfDelay: Infinity });
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new SvcError(
      'SVC_EVENTS_INVALID',
      `The events of ${path} cannot be read (${code}). Give a file with one JSON object on each line.`,
      { cause: error },
    );
  }
}

function lineOf(path: string, number: number, text: string): Line {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line;
  } catch {
    // Told below.
  }
  throw invalid(path, number, 'it is no JSON object');
}

function invalid(path: string, number: number, what: string): SvcError {
  return new SvcError(
    'SVC_EVENTS_INVALID',
    `Line ${number} of ${path} is no event of an entity: ${what}. A line is ` +
      '{"component":"…","id":"…","event":{"type":"…"}}, as svc journal export writes them.',
  );
}
