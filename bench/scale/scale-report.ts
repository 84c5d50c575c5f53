// ScaleReport: the results of a run of `npm run bench:scale`, and their tables.
import { median } from '../report.ts';
import type { AloneRate } from './database-alone.ts';
import { type NodesRest, type NodesUsage, withoutRest } from './nodes-usage.ts';
import { fitServer, limitOf, predict, type Prediction, type ScaleCosts } from './scale-model.ts';

/** Measurements of a round without pauses: `oneWithAll` has as many commands in flight as all nodes of `own` together. */
const BUSY = ['one', 'oneWithAll', 'own', 'spread'] as const;
/** Measurements at a steady rate of each node. */
const PACED = ['onePaced', 'ownPaced', 'spreadPaced'] as const;
export type Kind = (typeof BUSY)[number] | (typeof PACED)[number];
export type Round = Readonly<Record<Kind, NodesUsage>>;
/** Use of the one node, and of each of several, at rest. */
export type Rest = Readonly<Record<'one' | 'several', NodesRest>>;

/** Aim for the ratio of several nodes to one. */
export const RATIO_AIM = 1.15;
const COMPARED = [
  ['own', 'one'],
  ['spread', 'one'],
  ['own', 'oneWithAll'],
  ['spread', 'oneWithAll'],
  ['ownPaced', 'onePaced'],
  ['spreadPaced', 'onePaced'],
] as const;
/** Figures that are compared. The first two are without what nodes use at rest. */
const FIGURES = [
  'workUs',
  'workStatements',
  'nodeUs',
  'serverUs',
  'appends',
  'statements',
] as const;
type Figure = (typeof FIGURES)[number];
type Figures = Readonly<Record<Figure, number>>;

export interface Ratios {
  readonly several: Kind;
  readonly one: Kind;
  readonly ratios: Figures;
}

export interface Computed {
  readonly isSpread: boolean;
  readonly processors: number;
  /** First number of nodes with which the database is the limit; undefined: none of those that were tried. */
  readonly limit: number | undefined;
  readonly predictions: readonly (Prediction & { readonly nodes: number })[];
}

export interface ScaleReport {
  readonly date: string;
  readonly machine: string;
  readonly nodes: number;
  readonly commands: number;
  readonly inFlight: number;
  /** Commands that each node is sent in a second where the rate is steady. */
  readonly perSecond: number;
  readonly rest: Rest;
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
export function ratiosOf(rounds: readonly Round[], rest: Rest): readonly Ratios[] {
  return COMPARED.map(([several, one]) => {
    const all = rounds.map((round) => ({
      several: figuresOf(round[several], rest),
      one: figuresOf(round[one], rest),
    }));
    const ratios = FIGURES.map((figure) => [
      figure,
      median(all.map((each) => each.several[figure] / each.one[figure])),
    ]);
    return { several, one, ratios: Object.fromEntries(ratios) as Figures };
  });
}

function figuresOf(usage: NodesUsage, { one, several }: Rest): Figures {
  const { nodeUs, serverUs, appends, statements } = usage;
  const work = withoutRest(usage, usage.nodes === 1 ? one : several);
  const { nodeUs: workUs, statements: workStatements } = work;
  return { workUs, workStatements, nodeUs, serverUs, appends, statements };
}

/** Returns how many commands the computed nodes have in flight each: enough that they decide on while the disk writes. */
function computedInFlight(inFlight: number): number {
  return 8 * inFlight;
}

/** Returns the costs of the model, from the medians of all rounds and a loop that sends one event at a time. */
export function costsOf(rounds: readonly Round[], rest: Rest, single: AloneRate): ScaleCosts {
  const of = (figure: (round: Round) => number): number => median(rounds.map(figure));
  const server = (kind: Kind) => ({
    serverUs: of((round) => round[kind].serverUs),
    eventsPerStatement: of((round) => 1 / round[kind].appends),
  });
  const workUs = (kind: Kind): number => of((round) => figuresOf(round[kind], rest).workUs);
  const forwarded = of(({ spread }) => spread.forwarded / spread.commands);
  return {
    nodeUs: workUs('own'),
    forwardUs: Math.max(0, (workUs('spread') - workUs('own')) / forwarded),
    ...fitServer(server('one'), server('oneWithAll')),
    // The rest of the time of a single event is that of the disk, and of the way there and back.
    writeUs: Math.max(0, 1e6 / single.eventsPerSecond - single.serverUs - single.loopUs),
  };
}

/** Returns what more nodes would do, with databases of several sizes. */
export function computedOf(costs: ScaleCosts, inFlight: number): readonly Computed[] {
  return [false, true].flatMap((isSpread) =>
    DATABASES.map((processors) => {
      const installation = { processors, inFlight: computedInFlight(inFlight), isSpread };
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
  const { date, machine, rounds, commands, nodes, inFlight, perSecond } = report;
  return [
    `${date}, ${machine}. Medians of ${rounds.length} rounds of ${commands} commands of each kind, in turns.`,
    '',
    restLine(report),
    '',
    ...usageTable(report, BUSY, [
      `one node, ${inFlight} in flight`,
      `one node, ${nodes * inFlight} in flight`,
      `${nodes} nodes, ${inFlight} in flight each, own entities`,
      `${nodes} nodes, ${inFlight} in flight each, evenly spread`,
    ]),
    '',
    ...usageTable(report, PACED, [
      `one node, ${perSecond} commands a second`,
      `${nodes} nodes, ${perSecond} a second each, own entities`,
      `${nodes} nodes, ${perSecond} a second each, evenly spread`,
    ]),
    '',
    ...ratioTable(report),
    '',
    ...lockLines(report),
    '',
    'The database alone, to which loops send the statement of the journal:',
    '',
    ...aloneTable(report.alone),
    '',
    ...computedLines(report),
    '',
  ].join('\n');
}

function usageTable(
  { rounds, rest }: ScaleReport,
  kinds: readonly Kind[],
  heads: readonly string[],
): readonly string[] {
  const row = (
    name: string,
    figure: (usage: NodesUsage) => number,
    digits: number,
    unit = '',
  ): readonly string[] => [
    name,
    ...kinds.map(
      (kind) => `${median(rounds.map((round) => figure(round[kind]))).toFixed(digits)}${unit}`,
    ),
  ];
  return table([
    ['', ...heads],
    row('processor time of the nodes for a command', ({ nodeUs }) => nodeUs, 1, ' µs'),
    row('the same without rest', (usage) => figuresOf(usage, rest).workUs, 1, ' µs'),
    row('processor time of the server for an event', ({ serverUs }) => serverUs, 1, ' µs'),
    row('statements that store events, for an event', ({ appends }) => appends, 4),
    row('all statements, for an event', ({ statements }) => statements, 4),
    row('the same without rest', (usage) => figuresOf(usage, rest).workStatements, 4),
    row('events that are stored together', ({ appends }) => 1 / appends, 1),
    row('write-ahead log for an event', ({ walBytes }) => walBytes, 0, ' bytes'),
    row('forwarded', ({ forwarded, commands }) => (100 * forwarded) / commands, 1, ' %'),
    row('commands a second', ({ commands, seconds }) => commands / seconds, 0),
  ]);
}

function restLine({ rest: { one, several } }: ScaleReport): string {
  return `At rest the one node uses ${restText(one)}; each of several uses ${restText(several)}.`;
}

function restText({ nodeUs, statements }: NodesRest): string {
  return `${(nodeUs / 1_000).toFixed(1)} ms of processor time and ${statements.toFixed(1)} statements a second`;
}

function ratioTable({ nodes, inFlight, perSecond, ratios }: ScaleReport): readonly string[] {
  const inWords: Readonly<Record<Kind, string>> = {
    own: `${nodes} nodes, own entities`,
    spread: `${nodes} nodes, evenly spread`,
    one: `one node, in flight as at each of them (${inFlight})`,
    oneWithAll: `one node, in flight as at all of them (${nodes * inFlight})`,
    onePaced: `one node, ${perSecond} commands a second`,
    ownPaced: `${nodes} nodes, own entities, ${perSecond} a second each`,
    spreadPaced: `${nodes} nodes, evenly spread, ${perSecond} a second each`,
  };
  return table([
    [
      `Ratio; the aim is at most ${RATIO_AIM}`,
      'compared with',
      'processor time of the nodes',
      'without rest',
      'of the server',
      'statements that store events',
      'all statements',
      'without rest',
    ],
    ...ratios.map((each) => [
      inWords[each.several],
      inWords[each.one],
      ...(['nodeUs', 'workUs', 'serverUs', 'appends', 'statements', 'workStatements'] as const).map(
        (figure) => each.ratios[figure].toFixed(2),
      ),
    ]),
  ]);
}

function lockLines({ rounds }: ScaleReport): readonly string[] {
  const all = rounds.flatMap((round) =>
    Object.values(round)
      .filter(({ nodes }) => nodes > 1)
      .map(({ locks }) => locks),
  );
  const sum = (of: (locks: (typeof all)[number]) => number): number =>
    all.reduce((total, locks) => total + of(locks), 0);
  const others = new Map<string, number>();
  for (const { event } of all.flatMap(({ otherWaits }) => otherWaits))
    others.set(event, (others.get(event) ?? 0) + 1);
  const shown = [...others].map(([event, count]) => `${count} ${event}`).join(', ');
  return [
    `Looks into pg_stat_activity while several nodes worked: ${sum(({ looks }) => looks)}, at ${sum(({ looksAtSeveral }) => looksAtSeveral)} of them statements of`,
    `several nodes were in progress. A node waited for a row of another one: ${sum(({ rowWaits }) => rowWaits.length)} times. Waits between nodes for other`,
    `locks: ${shown || 'none'}. Waits for rows of more than 1 ms in the server's log: ${sum(({ loggedRowWaits }) => loggedRowWaits.length)}.`,
  ];
}

function aloneTable(alone: readonly AloneRate[]): readonly string[] {
  return table([
    [
      'Loops',
      'events of a statement',
      'events a second on these cores',
      'statements a second',
      'server for an event',
      'loops for an event',
      'write-ahead log for an event',
    ],
    ...alone.map((rate) => [
      String(rate.loops),
      rate.eventsPerStatement.toFixed(1),
      whole(rate.eventsPerSecond),
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
    `Computed, not measured: nodes of one core with ${computedInFlight(inFlight)} commands in flight each, and one database. A command costs its node ${nodeUs.toFixed(1)} µs,`,
    `and ${forwardUs.toFixed(1)} µs more if it is forwarded; a statement costs the database ${statementUs.toFixed(1)} µs and ${eventUs.toFixed(1)} µs for each event; a write to its disk takes ${writeUs.toFixed(0)} µs.`,
    '',
    ...table([
      [
        'Load',
        'cores of the database',
        'nodes with which it is the limit',
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
  return [rowOf(head!), `|${'---|'.repeat(head!.length)}`, ...rows.map(rowOf)];
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
