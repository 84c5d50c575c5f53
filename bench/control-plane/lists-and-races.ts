// Measurement (ac): the list of all services of a project. Measurement (ad): many requests at once to create an organization of the
// same id, of which one succeeds.
import { availableParallelism } from 'node:os';
import { median, type Measurement, type Pace } from '../report.ts';
import { accepted, answerTo, keptConnections } from './answers.ts';
import { SERVICES } from './filled-folder.ts';
import type { Installation } from './installation.ts';

const LISTS_MIN = 5;
const LIST_AIM_MS = 150;
const CREATES = 50;
const CREATES_AIM_MS = 250;

export async function measureList(
  installation: Installation,
  { starts, warmUpSeconds }: Pace,
): Promise<Measurement> {
  const service = await installation.start();
  const agent = keptConnections(1);
  try {
    const token = await installation.ownerToken();
    const list = () => accepted(agent, { url: service.url, line: `GET ${SERVICES}`, token });
    let { bytes } = await list();
    if (warmUpSeconds > 0) for (let count = 0; count < LISTS_MIN; count++) await list();
    const times: number[] = [];
    for (let count = 0; count < starts; count++) {
      const answer = await list();
      bytes = answer.bytes;
      times.push(answer.tookMs);
    }
    return {
      letter: 'ac',
      what: `control plane: list of ${installation.services.toLocaleString('en-US')} services, ${Math.round(bytes / 1_024).toLocaleString('en-US')} KiB`,
      svc: median(times),
      beside: `at most ${Math.round(Math.max(...times))} ms; the aim is ${LIST_AIM_MS} ms`,
      other: undefined,
      unit: 'ms',
      ratio: undefined,
      cores: `all ${availableParallelism()}, the load included`,
    };
  } finally {
    agent.destroy();
    await service.stop();
  }
}

export async function measureCreates(
  installation: Installation,
  { starts, warmUpSeconds }: Pace,
): Promise<Measurement> {
  const service = await installation.startEmpty('creates');
  const agent = keptConnections(CREATES);
  try {
    const { url } = service;
    const tokens = await Promise.all(
      Array.from({ length: CREATES }, (_, index) => installation.token(`person-${index}`)),
    );
    // Every token is judged, and every connection open.
    await Promise.all(
      tokens.map((token) => accepted(agent, { url, line: 'GET /auth/whoami', token })),
    );
    const json = JSON.stringify({ name: 'Race' });
    const race = async (id: string): Promise<number> => {
      const line = `POST /organizations/${id}`;
      const startedMs = performance.now();
      const answers = await Promise.all(
        tokens.map((token) => answerTo(agent, { url, line, token, json })),
      );
      const tookMs = performance.now() - startedMs;
      expectOne(answers.map(({ status }) => status));
      return tookMs;
    };
    if (warmUpSeconds > 0) for (let count = 0; count < starts; count++) await race(`warm-${count}`);
    const times: number[] = [];
    for (let count = 0; count < starts; count++) times.push(await race(`race-${count}`));
    return {
      letter: 'ad',
      what: `control plane: ${CREATES} requests at once that create one organization, until all are answered`,
      svc: median(times),
      beside: `at most ${Math.round(Math.max(...times))} ms; the aim is ${CREATES_AIM_MS} ms`,
      other: undefined,
      unit: 'ms',
      ratio: undefined,
      cores: `all ${availableParallelism()}, the load included`,
    };
  } finally {
    agent.destroy();
    await service.stop();
  }
}

/** Throws unless one request has created the organization and all others were refused. */
function expectOne(statuses: readonly number[]): void {
  const created = statuses.filter((status) => status === 204).length;
  const refused = statuses.filter((status) => status === 409).length;
  if (created !== 1 || refused !== statuses.length - 1)
    throw new Error(`creating one organization at once was answered ${statuses.join(', ')}`);
}
