// Measurements (ba) to (bc): one machine as a platform: `svc control-plane` with services as processes of its machine.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMib } from '../memory.ts';
import { processorUs } from '../processor-time.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { PlatformMachine } from './platform-machine.ts';

const SERVICES = 50;
const TRIAL_SERVICES = 2;
/** Time for which the machine is idle, in milliseconds. */
const IDLE_MS = 30_000;
const TRIAL_IDLE_MS = 500;
/** Until what the last deployment has begun is done, in milliseconds. */
const SETTLE_MS = 5_000;
const READY_AIM_MS = 1_500;
const WHOAMI_AIM_MS = 250;
const IDLE_AIM_PERCENT = 1;
const cli = join(import.meta.dirname, '..', '..', 'cli', 'bin', 'svc.js');

export async function measurePlatform(
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const machine = await PlatformMachine.open();
  try {
    const measurements: Measurement[] = [];
    for (const [letter, measure] of [
      ['ba', () => measureDeploy(machine, pace)],
      ['bb', () => measureWhoami(machine, pace)],
      ['bc', () => measureIdle(machine, pace)],
    ] as const)
      if (wanted.has(letter)) measurements.push(await measure());
    return measurements;
  } finally {
    await machine.close();
  }
}

/** Time from the apply of a new service until a member sees that it is ready. */
async function measureDeploy(machine: PlatformMachine, { starts }: Pace): Promise<Measurement> {
  // The first deployment reads the image, and fills Node's cache of compiled sources.
  await machine.deploy('first');
  const times: number[] = [];
  for (let count = 0; count < starts; count++) {
    const startedMs = performance.now();
    await machine.deploy(`cart-${count}`);
    times.push(performance.now() - startedMs);
  }
  return {
    letter: 'ba',
    what: `platform: apply of a new service with the cart until it is ready; the aim is ${READY_AIM_MS} ms`,
    svc: median(times),
    beside: `longest ${Math.round(Math.max(...times))} ms`,
    other: undefined,
    unit: 'ms',
    ratio: undefined,
    cores: `all ${availableParallelism()}`,
  };
}

async function measureWhoami(machine: PlatformMachine, { starts }: Pace): Promise<Measurement> {
  const { url } = machine.controlPlane;
  const env = { SVC_URL: url, SVC_TOKEN: machine.token };
  const figures: { svc: number; bare: number }[] = [];
  // The first start fills Node's cache of compiled sources.
  for (let round = -1; round < starts; round++) {
    const figure = {
      svc: tookMs([cli, 'whoami'], env),
      bare: tookMs(['-e', '0'], env),
    };
    if (round >= 0) figures.push(figure);
  }
  const svc = median(figures.map((figure) => figure.svc));
  const bare = median(figures.map((figure) => figure.bare));
  return {
    letter: 'bb',
    what: `\`svc whoami\`, from the start of the process to its end; the aim is ${WHOAMI_AIM_MS} ms`,
    svc,
    beside: 'Node without a program',
    other: bare,
    unit: 'ms',
    ratio: svc / bare,
    cores: `all ${availableParallelism()}`,
  };
}

/** Processor time of a control plane whose services run and are asked nothing. */
async function measureIdle(
  machine: PlatformMachine,
  { warmUpSeconds }: Pace,
): Promise<Measurement> {
  const isTrial = warmUpSeconds === 0;
  const [services, idleMs] = isTrial ? [TRIAL_SERVICES, TRIAL_IDLE_MS] : [SERVICES, IDLE_MS];
  for (let count = 0; count < services; count++) await machine.deploy(`idle-${count}`);
  if (!isTrial) await pause(SETTLE_MS);
  const { pid } = machine.controlPlane;
  const beforeUs = processorUs(pid);
  const startedMs = performance.now();
  await pause(idleMs);
  const percent = (processorUs(pid) - beforeUs) / (performance.now() - startedMs) / 10;
  return {
    letter: 'bc',
    what: `platform: part of a core that the control plane uses while ${services} services are idle; the aim is ${IDLE_AIM_PERCENT} %`,
    svc: percent,
    beside: `its resident memory: ${Math.round(residentMib(pid).now)} MiB`,
    other: undefined,
    unit: '%',
    ratio: undefined,
    cores: 'any',
  };
}

function tookMs(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - startedMs;
}
