// `npm run bench`: runs the measurements, and prints a table of their results, with the ratio to the reference of each
// measurement that has one.
//
// Usage: npm run bench -- [--only a,b] [--seconds 3] [--rounds 5] [--entities 1000000] [--json FILE] [--trial]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureActivation } from './activation.ts';
import { measureColdStart } from './cold-start.ts';
import { measureBearer } from './bearer.ts';
import { measureCodec } from './codec.ts';
import { measureConsumer } from './consumers.ts';
import { measureControlPlane } from './control-plane/control-plane.ts';
import { measureDevLoop } from './dev-loop.ts';
import { measureEngine } from './engine.ts';
import { measureGateway } from './gateway.ts';
import { measureHttp } from './http.ts';
import { measureLimits } from './limits.ts';
import { createLoader } from './load.ts';
import { describeMachine } from './machine.ts';
import { measureMemory } from './memory.ts';
import { measureMetering } from './metering.ts';
import { measureNeighbour } from './neighbour.ts';
import { measureRecorder } from './recorder.ts';
import { measurePendingTimers } from './pending-timers.ts';
import { measureJourney } from './one-machine/journey-row.ts';
import { measureOverlaps } from './one-machine/overlap-row.ts';
import { measurePlatform } from './one-machine/platform-rows.ts';
import { measureReplacements } from './one-machine/replacement-row.ts';
import { measurePostgres } from './postgres/postgres-rows.ts';
import { measureProcess } from './process/process-rows.ts';
import { measureProxy } from './proxy.ts';
import { measureRemoteKeys } from './remote-keys.ts';
import { measureReplay } from './replay.ts';
import { reportText, type BenchReport, type Measurement, type Pace } from './report.ts';
import { measureShards } from './shards.ts';
import { measureTimers } from './timers.ts';
import { measureViewLag } from './view-lag.ts';
import { measureViewRequests } from './view-requests.ts';
import { measureViews } from './views.ts';
import { measureWebhooks } from './webhooks/webhook-rows.ts';

const LETTERS = [
  'a',
  'b',
  'b1',
  'c',
  'a2',
  'a3',
  'd',
  'e',
  'f',
  'g',
  'h',
  'i',
  'i2',
  'j',
  'j2',
  'k',
  'l',
  'm',
  'n',
  'n2',
  'o',
  'p',
  'v',
  'w',
  'w2',
  'q',
  'q2',
  'r',
  's',
  't',
  't2',
  'u',
  'x',
  'y',
  'y2',
  'y3',
  'y4',
  'z',
  'za',
  'zb',
  'zc',
  'aa',
  'ab',
  'ac',
  'ad',
  'ae',
  'af',
  'ag',
  'ag2',
  'ba',
  'bb',
  'bc',
  'bd',
  'bd2',
  'bd3',
  'be',
  'ca',
  'cb',
  'cc',
  'cd',
  'da',
  'da2',
  'db',
  'db2',
  'dc',
  'dc2',
  'dd',
  'dd2',
  'de',
  'df',
  'ec',
  'ea',
  'eb',
  'ed',
  'ee',
  'ef',
];
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: LETTERS.join(',') },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    entities: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    trial: { type: 'boolean', default: false },
  },
});
const wanted = new Set(values.only.split(','));
if (![...wanted].every((letter) => LETTERS.includes(letter)))
  refuse(`--only takes letters from ${LETTERS.join(',')}, as in --only a,b`);
const WARM_UP_SECONDS = 2;
const STARTS_MIN = 7;
/** The shortest run, which only shows that every measurement works. */
const TRIAL: Pace = { seconds: 0.1, rounds: 1, warmUpSeconds: 0, starts: 1 };
const TRIAL_ENTITIES = 1_000;
const SERVICES = 10_000;
const TRIAL_SERVICES = 100;
const rounds = wholeNumber('rounds', values.rounds, 100);
const seconds = wholeNumber('seconds', values.seconds, 60);
const entities = values.trial
  ? TRIAL_ENTITIES
  : wholeNumber('entities', values.entities, 10_000_000);
const services = values.trial ? TRIAL_SERVICES : SERVICES;
const starts = Math.max(STARTS_MIN, rounds);
const pace = values.trial ? TRIAL : { seconds, rounds, warmUpSeconds: WARM_UP_SECONDS, starts };

function wholeNumber(name: string, value: string, max: number): number {
  const number = /^[1-9][0-9]{0,7}$/.test(value) ? Number(value) : Number.NaN;
  if (number <= max) return number;
  return refuse(`--${name} takes a number from 1 to ${max}`);
}

function refuse(message: string): never {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
}

const loader = await createLoader();
const measurements: Measurement[] = [];
for (const [letters, measure] of [
  [['a', 'b', 'b1', 'c'], () => measureHttp(wanted, pace, loader)],
  [['a2', 'a3'], () => measureBearer(wanted, pace, loader)],
  [['d'], () => measureEngine(pace)],
  [['e'], () => measureColdStart(pace)],
  [['f'], () => measureMetering(pace)],
  [['g'], () => measureLimits(pace)],
  [['h'], () => measureNeighbour(pace)],
  [['i', 'i2', 'j', 'j2'], () => measureShards(wanted, pace)],
  [['k'], () => measureActivation(pace, entities)],
  [['l'], () => measureMemory(entities)],
  [['m'], () => measureReplay(pace)],
  [['n', 'n2'], () => measureRecorder(wanted, pace, loader)],
  [['o'], () => measureDevLoop(pace)],
  [['p', 'v'], () => measureTimers(wanted, pace, entities)],
  [['w', 'w2'], () => measurePendingTimers(wanted, pace, entities)],
  [['q', 'q2'], () => measureViews(wanted, pace, entities)],
  [['r'], () => measureConsumer(pace)],
  [['s', 't', 't2'], () => measureViewRequests(wanted, pace, loader, entities)],
  [['u'], () => measureViewLag(pace)],
  [['x'], () => measureCodec(pace, loader)],
  [['y', 'y2', 'y3', 'y4', 'z'], () => measureProxy(wanted, pace)],
  [['za', 'zb', 'zc'], () => measureGateway(wanted, pace)],
  [
    ['aa', 'ab', 'ac', 'ad', 'ae', 'af', 'ag', 'ag2'],
    () => measureControlPlane(wanted, pace, loader, services),
  ],
  [['ba', 'bb', 'bc'], () => measurePlatform(wanted, pace)],
  [['bd', 'bd2'], () => measureReplacements(wanted, pace, entities)],
  [['bd3'], () => measureOverlaps(pace)],
  [['be'], async () => [await measureJourney(pace)]],
  [['ca', 'cb', 'cc', 'cd'], () => measureWebhooks(wanted, pace)],
  [
    ['da', 'da2', 'db', 'db2', 'dc', 'dc2', 'dd', 'dd2', 'de', 'df'],
    () => measureProcess(wanted, pace, entities),
  ],
  [['ec'], () => measureRemoteKeys(pace)],
  [['ea', 'eb', 'ed', 'ee', 'ef'], () => measurePostgres(wanted, pace)],
] as const)
  if (letters.some((letter) => wanted.has(letter))) {
    process.stderr.write(`bench: measuring ${letters.join(', ')}\n`);
    measurements.push(...(await measure()));
  }

const report: BenchReport = {
  date: new Date().toISOString().slice(0, 10),
  machine: describeMachine(),
  load: loader.name,
  pace,
  measurements,
};
process.stdout.write(reportText(report));
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
