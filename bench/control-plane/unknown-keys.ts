// Measurement (af): the 99th percentile of requests to the control plane while others send tokens of keys that the identity
// provider does not have, each of another one. Every such token might be of a new key, for which the keys would have to be
// read again. The row says how often they were.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { pacedTimes } from '../paced-client.ts';
import { requestText } from '../pipelined-client.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { serviceName, SERVICES } from './filled-folder.ts';
import type { Installation } from './installation.ts';

const REQUESTS_PER_SECOND = 500;
const TOKENS_PER_SECOND = 2_000;
const CONNECTIONS = 16;
const SIGNATURE_BYTES = 64;
const TOKEN_SECONDS = 3_600;

/** `count`: how many tokens are sent in each round. */
export async function measureUnknownKeys(
  installation: Installation,
  { rounds, warmUpSeconds }: Pace,
  count: number,
): Promise<Measurement> {
  const service = await installation.start();
  try {
    const { reads } = installation.provider;
    const port = Number(new URL(service.url).port);
    const seconds = count / TOKENS_PER_SECOND;
    const path = `${SERVICES}/${serviceName(0)}`;
    const known = requestText('GET', path, undefined, await installation.ownerToken());
    const paced = { port, connections: CONNECTIONS, perSecond: REQUESTS_PER_SECOND };
    const others = async (forSeconds: number) =>
      (await pacedTimes({ ...paced, seconds: forSeconds, next: () => known })).p99Ms;
    const attack = async () => {
      const requests = tokensOfUnknownKeys(installation, count).map((token) =>
        requestText('GET', path, undefined, token),
      );
      const load = { ...paced, perSecond: TOKENS_PER_SECOND, next: () => requests.pop()! };
      await pacedTimes({ ...load, seconds, status: '401' });
    };
    if (warmUpSeconds > 0) {
      await others(warmUpSeconds);
      await Promise.all([others(seconds), attack()]);
    }
    const figures: { alone: number; beside: number; reads: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const alone = await others(seconds);
      const before = reads.keys;
      const [beside] = await Promise.all([others(seconds), attack()]);
      figures.push({ alone, beside, reads: reads.keys - before });
    }
    const readsMax = Math.max(...figures.map((figure) => figure.reads));
    return {
      letter: 'af',
      what: `control plane: p99 of GET at ${REQUESTS_PER_SECOND}/s while ${count.toLocaleString('en-US')} tokens of unknown keys are sent in ${seconds} s, for which the keys were read ${readsMax} times at most; the aims are 1 and a ratio of 2`,
      svc: median(figures.map((figure) => figure.beside)),
      beside: 'the same while they are not',
      other: median(figures.map((figure) => figure.alone)),
      unit: 'ms',
      ratio: median(figures.map((figure) => figure.beside / figure.alone)),
      cores: `all ${availableParallelism()}, the load included`,
    };
  } finally {
    await service.stop();
  }
}

/** Tokens that would be good if their keys were known. Nobody verifies the signature of such a token. */
function tokensOfUnknownKeys(
  { provider: { issuer, audience, alg } }: Installation,
  count: number,
): string[] {
  const exp = Math.floor(Date.now() / 1_000) + TOKEN_SECONDS;
  const payload = encoded({ iss: issuer, aud: audience, sub: 'mallory', exp });
  return Array.from({ length: count }, () => {
    const kid = randomBytes(16).toString('hex');
    const signature = randomBytes(SIGNATURE_BYTES).toString('base64url');
    return `${encoded({ alg, kid, typ: 'at+jwt' })}.${payload}.${signature}`;
  });
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
