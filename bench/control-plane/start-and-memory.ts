// Measurement (ae): the time until a control plane with many services answers after its start. Measurements (ag) and (ag2):
// its memory, without anything in it, and with these services once the status of each was asked for.
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMib } from '../memory.ts';
import { requestText, sendPipelined } from '../pipelined-client.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import type { Service } from '../service.ts';
import { accepted, keptConnections } from './answers.ts';
import { serviceName, SERVICES } from './filled-folder.ts';
import type { Installation } from './installation.ts';

const START_AIM_MS = 2_000;
const IDLE_AIM_MIB = 130;
const FILLED_AIM_MIB = 300;
const CONNECTIONS = 8;
const DEPTH = 4;
const LISTS = 3;
/** Until what the start has allocated is released, in milliseconds. */
const SETTLE_MS = 5_000;

export async function measureStart(
  installation: Installation,
  { starts }: Pace,
): Promise<Measurement> {
  const figures: { filled: number; empty: number }[] = [];
  // The first start fills the folder, and Node's cache of compiled sources.
  await (await installation.start()).stop();
  for (let round = 0; round < starts; round++)
    figures.push({
      filled: await firstAnswerMs(
        installation,
        () => installation.start(),
        `GET ${SERVICES}/${serviceName(0)}`,
      ),
      empty: await firstAnswerMs(
        installation,
        () => installation.startEmpty('empty'),
        'GET /auth/whoami',
      ),
    });
  const filled = median(figures.map((figure) => figure.filled));
  const empty = median(figures.map((figure) => figure.empty));
  const { services } = installation;
  return {
    letter: 'ae',
    what: `control plane: start to the first status, ${services.toLocaleString('en-US')} services of 20 events each; the aim is ${START_AIM_MS} ms`,
    svc: filled,
    beside: 'without anything in it',
    other: empty,
    unit: 'ms',
    ratio: filled / empty,
    cores: `all ${availableParallelism()}`,
  };
}

export async function measureIdleMemory(
  installation: Installation,
  { warmUpSeconds }: Pace,
): Promise<Measurement> {
  const service = await installation.startEmpty('idle');
  try {
    await firstAnswer(service, await installation.ownerToken(), 'GET /auth/whoami');
    if (warmUpSeconds > 0) await pause(SETTLE_MS);
    return memory('ag', 'without anything in it', service, IDLE_AIM_MIB);
  } finally {
    await service.stop();
  }
}

export async function measureFilledMemory(
  installation: Installation,
  { warmUpSeconds }: Pace,
): Promise<Measurement> {
  const { services } = installation;
  const service = await installation.start();
  try {
    const token = await installation.ownerToken();
    await askForAll(service, services, token);
    for (let count = 0; count < LISTS; count++)
      await firstAnswer(service, token, `GET ${SERVICES}`);
    if (warmUpSeconds > 0) await pause(SETTLE_MS);
    const what = `with ${services.toLocaleString('en-US')} services, all asked for and listed`;
    return memory('ag2', what, service, FILLED_AIM_MIB);
  } finally {
    await service.stop();
  }
}

function memory(letter: string, what: string, { pid }: Service, aimMib: number): Measurement {
  const { now, highest } = residentMib(pid);
  return {
    letter,
    what: `control plane: resident memory ${what}`,
    svc: now,
    beside: `at most ${Math.round(highest)} MiB; the aim is ${aimMib} MiB`,
    other: undefined,
    unit: 'MiB',
    ratio: undefined,
    cores: 'any',
  };
}

async function askForAll({ url }: Service, services: number, token: string): Promise<void> {
  let turn = 0;
  const answered = await sendPipelined({
    port: Number(new URL(url).port),
    connections: CONNECTIONS,
    depth: DEPTH,
    next: () =>
      turn < services
        ? requestText('GET', `${SERVICES}/${serviceName(turn++)}`, undefined, token)
        : undefined,
  });
  if (answered !== services) throw new Error(`${answered} of ${services} statuses were answered`);
}

/** Returns the milliseconds from the start of a control plane to its first answer. */
async function firstAnswerMs(
  installation: Installation,
  start: () => Promise<Service>,
  line: string,
): Promise<number> {
  const token = await installation.ownerToken();
  const startedMs = performance.now();
  const service = await start();
  try {
    await firstAnswer(service, token, line);
    return performance.now() - startedMs;
  } finally {
    await service.stop();
  }
}

async function firstAnswer({ url }: Service, token: string, line: string): Promise<void> {
  const agent = keptConnections(1);
  await accepted(agent, { url, line, token });
  agent.destroy();
}
