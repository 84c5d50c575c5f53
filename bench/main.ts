// `npm run bench`: every measurement in one run, each beside what it is compared with, as ratios.
// Usage: npm run bench -- [--only a,b] [--seconds 3] [--rounds 5] [--entities 100000] [--json FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureActivation } from './activation.ts';
import { measureColdStart } from './cold-start.ts';
import { measureEngine } from './engine.ts';
import { measureHttp } from './http.ts';
import { measureLimits } from './limits.ts';
import { createLoader } from './load.ts';
import { describeMachine } from './machine.ts';
import { measureMetering } from './metering.ts';
import { measureNeighbour } from './neighbour.ts';
import { reportText, type BenchReport, type Measurement, type Pace } from './report.ts';
import { measureShards } from './shards.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'a,b,c,d,e,f,g,h,i,j,k' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    entities: { type: 'string', default: '100000' },
    json: { type: 'string' },
  },
});
const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
const wanted = new Set(values.only.split(','));
if (![...wanted].every((letter) => LETTERS.includes(letter)))
  refuse(`--only takes letters from ${LETTERS.join(',')}, as in --only a,b`);
const pace: Pace = { seconds: wholeNumber('seconds', 60), rounds: wholeNumber('rounds', 100) };

function wholeNumber(name: 'seconds' | 'rounds' | 'entities', max: number): number {
  const number = /^[1-9][0-9]{0,7}$/.test(values[name]) ? Number(values[name]) : Number.NaN;
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
  [['a', 'b', 'c'], () => measureHttp(wanted, pace, loader)],
  [['d'], () => measureEngine(pace)],
  [['e'], () => measureColdStart(pace)],
  [['f'], () => measureMetering(pace)],
  [['g'], () => measureLimits(pace)],
  [['h'], () => measureNeighbour(pace)],
  [['i', 'j'], () => measureShards(wanted, pace)],
  [['k'], () => measureActivation(pace, wholeNumber('entities', 10_000_000))],
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
