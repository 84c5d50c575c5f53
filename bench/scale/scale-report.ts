// ScaleReport: the results of a run of `npm run bench:scale`, and their tables.
import { median } from '../report.ts';
import type { AloneRate } from './database-alone.ts';
import type { NodesUsage } from './nodes-usage.ts';
import {
  type Installation,
  limitOf,
  predict,
  type Prediction,
  type ScaleCosts,
} from './scale-model.ts';

/** Measurements of a round. All nodes of `own` and `spread` have as many commands in flight as the one of `one`. */
export const KINDS = ['one', 'oneWithAll', 'own', 'spread'] as const;
export type Kind = (typeof KINDS)[number];
export type Round = Readonly<Record<Kind, NodesUsage>>;

/** Aim for the ratio of several nodes to one. */
export const RATIO_AIM = 1.15;
const COMPARED = [
  ['own', 'one'],
  ['spread', 'one'],
  ['own', 'oneWithAll'],
  ['spread', 'oneWithAll'],
] as const;
const FIGURES = ['nodeUs', 'serverUs', 'appends', 'statements', 'walBytes'] as const;
type Figure = (typeof FIGURES)[number];

export interface Ratios {
  readonly several: Kind;
  readonly one: Kind;
  readonly ratios: Readonly<Record<Figure, number>>;
}

export interface Computed {
  readonly isSpread: boolean;
  readonly processors: number;
  /** First number of nodes with which the database slows them down; undefined: none of those that were tried. */
  readonly limit: number | undefined;
  readonly predictions: readonly (Prediction & { readonly nodes: number })[];
}

export interface ScaleReport {
  readonly date: string;
  readonly machine: string;
  readonly nodes: number;
  readonly commands: number;
  readonly inFlight: number;
  readonly rounds: readonly Round[];
  readonly ratios: readonly Ratios[];
  readonly alone: readonly AloneRate[];
  readonly costs: ScaleCosts;
  readonly computed: readonly Computed[];
}

const TRIED_NODES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const SHOWN_NODES = new Set([1, 3, 8, 16, 32, 64]);
const DATABASES = [2, 4, 8, 16];

/** Returns the medians of the ratios of each round. */
export function ratiosOf(rounds: readonly Round[]): readonly Ratios[] {
  return COMPARED.map(([several, one]) => {
    const ratio = (figure: Figure): number =>
      median(rounds.map((round) => round[several][figure] / round[one][figure]));
    const ratios = Object.fromEntries(FIGURES.map((figure) => [figure, ratio(figure)]));
    return { several, one, ratios: ratios as Ratios['ratios'] };
  });
}

/** Returns what more nodes would do, with databases of several sizes. */
export function computedOf(costs: ScaleCosts, inFlight: number): readonly Computed[] {
  return [false, true].flatMap((isSpread) =>
    DATABASES.map((processors) => {
      const installation: Omit<Installation, 'nodes'> = { processors, inFlight, isSpread };
      return {
        isSpread,
        processors,
        limit: limitOf(costs, installation, TRIED_NODES),
        predictions: TRIED_NODES.map((nodes) => ({
          nodes,
          ...predict(costs, { ...installation, nodes }),
        })),
      };
    }),
  );
}

export function scaleText(report: ScaleReport): string {
  const { date, machine, rounds, commands } = report;
  return [
    `${date}, ${machine}. Medians of ${rounds.length} rounds of ${commands} commands of each kind, in turns.`,
    '',
    ...usageTable(report),
    '',
    ...ratioTable(report),
    '',
    ...lockLines(report),
    '',
    'The database alone, to which loops send the statement of the journal. Computed is what the model below says of them, with one core for the database:',
    '',
    ...aloneTable(report),
    '',
    ...computedLines(report),
    '',
  ].join('\n');
}

function usageTable({ nodes, inFlight, rounds }: ScaleReport): readonly string[] {
  const of = (figure: (usage: NodesUsage) => number, digits: number, unit = ''): string[] =>
    KINDS.map(
      (kind) => `${median(rounds.map((round) => figure(round[kind]))).toFixed(digits)}${unit}`,
    );
  return table([
    [
      '',
      `one node, ${inFlight} in flight`,
      `one node, ${nodes * inFlight} in flight`,
      `${nodes} nodes, ${inFlight} in flight each, own entities`,
      `${nodes} nodes, ${inFlight} in flight each, evenly spread`,
    ],
    ['processor time of the nodes for a command', ...of((usage) => usage.nodeUs, 1, ' µs')],
    ['processor time of the server for an event', ...of((usage) => usage.serverUs, 1, ' µs')],
    ['statements that store events, for an event', ...of((usage) => usage.appends, 4)],
    ['all statements, for an event', ...of((usage) => usage.statements, 4)],
    ['events that are stored together', ...of((usage) => 1 / usage.appends, 1)],
    ['write-ahead log for an event', ...of((usage) => usage.walBytes, 0, ' bytes')],
    ['forwarded commands', ...of((usage) => (100 * usage.forwarded) / usage.commands, 1, ' %')],
    ['commands a second on these cores', ...of((usage) => usage.commands / usage.seconds, 0)],
  ]);
}

function ratioTable({ nodes, inFlight, ratios }: ScaleReport): readonly string[] {
  const inWords: Readonly<Record<string, string>> = {
    own: `${nodes} nodes, own entities`,
    spread: `${nodes} nodes, evenly spread`,
    one: `one node with as many in flight as each of them (${inFlight})`,
    oneWithAll: `one node with as many in flight as all of them (${nodes * inFlight})`,
  };
  return table([
    [
      `Ratio; the aim is at most ${RATIO_AIM}`,
      'compared with',
      'processor time of the nodes',
      'of the server',
      'statements that store events',
      'all statements',
    ],
    ...ratios.map((each) => [
      inWords[each.several]!,
      inWords[each.one]!,
      ...(['nodeUs', 'serverUs', 'appends', 'statements'] as const).map((figure) =>
        each.ratios[figure].toFixed(2),
      ),
    ]),
  ]);
}

function lockLines({ rounds }: ScaleReport): readonly string[] {
  const all = rounds.flatMap(({ own, spread }) => [own.locks, spread.locks]);
  const sum = (of: (locks: (typeof all)[number]) => number): number =>
    all.reduce((total, locks) => total + of(locks), 0);
  const others = new Map<string, number>();
  for (const { event } of all.flatMap(({ otherWaits }) => otherWaits))
    others.set(event, (others.get(event) ?? 0) + 1);
  const shown = [...others].map(([event, count]) => `${count} ${event}`).join(', ');
  return [
    `Looks into pg_stat_activity while several nodes worked: ${sum(({ looks }) => looks)}, at ${sum(({ looksAtSeveral }) => looksAtSeveral)} of them statements of`,
    `several nodes were under way. A node waited for a row of another one: ${sum(({ rowWaits }) => rowWaits.length)} times. Waits between nodes for other`,
    `locks: ${shown || 'none'}. Waits for rows of more than 1 ms in the server's log: ${sum(({ loggedRowWaits }) => loggedRowWaits.length)}.`,
  ];
}

function aloneTable({ alone, costs }: ScaleReport): readonly string[] {
  const computed = ({ loops, inFlight, loopUs }: AloneRate): Prediction =>
    predict(
      { ...costs, nodeUs: loopUs, forwardUs: 0 },
      { nodes: loops, processors: 1, inFlight, isSpread: false },
    );
  return table([
    [
      'Loops',
      'events of a statement',
      'events a second on these cores',
      'computed',
      'statements a second',
      'server for an event',
      'loops for an event',
      'write-ahead log for an event',
    ],
    ...alone.map((rate) => [
      String(rate.loops),
      rate.eventsPerStatement.toFixed(1),
      whole(rate.eventsPerSecond),
      whole(computed(rate).eventsPerSecond),
      whole(rate.statementsPerSecond),
      `${rate.serverUs.toFixed(1)} µs`,
      `${rate.loopUs.toFixed(1)} µs`,
      `${rate.walBytes.toFixed(0)} bytes`,
    ]),
  ]);
}

function computedLines({ costs, computed, inFlight }: ScaleReport): readonly string[] {
  const { nodeUs, forwardUs, statementUs, eventUs, writeUs } = costs;
  return [
    `Computed, not measured: nodes of one core with ${inFlight} commands in flight each, and one database. A command costs its node ${nodeUs.toFixed(1)} µs,`,
    `and ${forwardUs.toFixed(1)} µs more if it is forwarded; a statement costs the database ${statementUs.toFixed(1)} µs and ${eventUs.toFixed(1)} µs for each event; a write to its disk takes ${writeUs.toFixed(0)} µs.`,
    '',
    ...table([
      [
        'Load',
        'cores of the database',
        'nodes that it slows down',
        ...computed[0]!.predictions
          .filter(({ nodes }) => SHOWN_NODES.has(nodes))
          .map(({ nodes }) => `events/s (load of the database) with ${nodes}`),
      ],
      ...computed.map(({ isSpread, processors, limit, predictions }) => [
        isSpread ? 'evenly spread' : 'own entities',
        String(processors),
        limit === undefined ? `more than ${TRIED_NODES.at(-1)}` : `${limit} or more`,
        ...predictions
          .filter(({ nodes }) => SHOWN_NODES.has(nodes))
          .map(
            ({ eventsPerSecond, databaseLoad }) =>
              `${whole(eventsPerSecond)} (${(100 * databaseLoad).toFixed(0)} %)`,
          ),
      ]),
    ]),
  ];
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}

function table([head, ...rows]: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head!), `|${'---|'.repeat(head!.length)}`, ...rows.map(line)];
}
