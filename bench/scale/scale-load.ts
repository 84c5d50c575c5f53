// ScaleLoad: durable commands of a thousand entities, sent to several nodes at the same time, each of which is sent as many. Either
// callers know the owner of each entity, or each node is sent commands of all entities in turn, whoever owns them. They are sent as
// fast as answers come, or at a steady rate.
import { sliceOf } from '@svc/model/slice';
import { pacedTimes } from '../paced-client.ts';
import { requestText, sendPipelined } from '../pipelined-client.ts';

/** `own`: a node is sent commands of its own entities alone. `spread`: of all entities. */
export type Shape = 'own' | 'spread';

export interface ScaleLoad {
  readonly shape: Shape;
  /** Commands of all nodes together. */
  readonly commands: number;
  /** Commands in flight at each node, a multiple of DEPTH. */
  readonly inFlight: number;
  /** Commands that each node is sent in a second; absent: the next one of a connection is sent when one is answered. */
  readonly perSecond?: number;
}

/** Commands in flight on each connection. */
export const DEPTH = 8;
const ENTITIES = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
/** Lets nodes begin with different entities. */
const STRIDE = 331;

/** Commands that a node is sent. */
interface NodeLoad {
  readonly entities: readonly string[];
  readonly commands: number;
}

/** Returns what each node is sent. `owners`: index of the node that owns each slice. */
export function nodeLoads(
  nodes: number,
  owners: readonly number[],
  { shape, commands }: ScaleLoad,
): readonly NodeLoad[] {
  return Array.from({ length: nodes }, (_, index) => {
    const from = (index * STRIDE) % ENTITIES.length;
    return {
      entities:
        shape === 'own'
          ? ENTITIES.filter((id) => ownerOf(id, owners) === index)
          : [...ENTITIES.slice(from), ...ENTITIES.slice(0, from)],
      commands: Math.floor((commands + index) / nodes),
    };
  });
}

/** Returns how many of these commands are sent to a node that does not own their entity. */
export function strayCommands(loads: readonly NodeLoad[], owners: readonly number[]): number {
  let strays = 0;
  for (const [index, { entities, commands }] of loads.entries())
    for (let turn = 0; turn < commands; turn++)
      if (ownerOf(entities[turn % entities.length]!, owners) !== index) strays++;
  return strays;
}

/** Sends what each node is to be sent. Resolves with the number of answers, all of which are 200. */
export async function sendLoads(
  ports: readonly number[],
  loads: readonly NodeLoad[],
  { inFlight, perSecond }: Pick<ScaleLoad, 'inFlight' | 'perSecond'>,
): Promise<number> {
  const counts = await Promise.all(
    loads.map(async ({ entities, commands }, index) => {
      const port = ports[index]!;
      const requests = entities.map((id) => requestText('POST', `/counters/${id}`, '{"amount":1}'));
      let turn = 0;
      const next = (): string => requests[turn++ % requests.length]!;
      if (perSecond === undefined)
        return sendPipelined({
          port,
          connections: inFlight / DEPTH,
          depth: DEPTH,
          next: () => (turn < commands ? next() : undefined),
        });
      const seconds = commands / perSecond;
      await pacedTimes({ port, connections: inFlight, perSecond, seconds, next });
      return commands;
    }),
  );
  return counts.reduce((sum, count) => sum + count);
}

function ownerOf(id: string, owners: readonly number[]): number {
  return owners[sliceOf('counter', id)]!;
}
