// (h): the slowest requests of a service while another service on the same machine runs a hostile module: a separate
// process that is busy with requests whose handler never ends by itself. The measured service receives requests at a
// steady rate, far below its maximum.
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule, startSvc } from './service.ts';

const REQUESTS_PER_SECOND = 500;
const HOSTILE_CONNECTIONS = 2;
const ENTITIES = 100;

export async function measureNeighbour({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const stops: (() => unknown)[] = [];
  try {
    const urls: string[] = [];
    for (const fixture of ['counter', 'faulty']) {
      const module = await benchModule(fixture);
      stops.push(() => module.remove());
      const service = await startSvc(module.file, join(module.folder, 'data'));
      stops.push(async () => service.stop());
      urls.push(service.url);
    }
    const [good, hostile] = urls as [string, string];
    if (warmUpSeconds > 0) await slowest(good, warmUpSeconds);
    const figures: { alone: number; beside: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const alone = await slowest(good, seconds);
      const attack = startAttack(`${hostile}/faulty/spin`);
      const beside = await slowest(good, seconds);
      await attack.stop();
      figures.push({ alone, beside });
    }
    return [
      {
        letter: 'h',
        what: `GET: p99 at ${REQUESTS_PER_SECOND}/s while another service's module spins`,
        svc: median(figures.map((figure) => figure.beside)),
        beside: 'the same while it does not',
        other: median(figures.map((figure) => figure.alone)),
        unit: 'ms',
        ratio: median(figures.map((figure) => figure.beside / figure.alone)),
        cores: 'two services and the load share 2',
      },
    ];
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Returns the 99th percentile of the latency, in milliseconds. */
async function slowest(url: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const times: Promise<number>[] = [];
  const startedMs = performance.now();
  const count = seconds * REQUESTS_PER_SECOND;
  while (times.length < count) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * REQUESTS_PER_SECOND);
    while (times.length < Math.min(due, count))
      times.push(timed(`${url}/counters/c${times.length % ENTITIES}`, agent));
    await pause(1);
  }
  const sorted = (await Promise.all(times)).toSorted((a, b) => a - b);
  agent.destroy();
  return sorted[Math.floor(sorted.length * 0.99)]!;
}

async function timed(url: string, agent: Agent): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
      response.resume().once('end', () => resolve(performance.now() - startedMs));
    }).once('error', reject);
  });
}

/** Sends the next request after each answer, which is always 504. */
function startAttack(url: string): { stop(): Promise<void> } {
  const over = new AbortController();
  const attackers = Array.from({ length: HOSTILE_CONNECTIONS }, async () => {
    while (!over.signal.aborted) {
      const { status } = await fetch(url);
      if (status !== 504) throw new Error(`${url}: ${status}, and not 504`);
    }
  });
  return {
    async stop() {
      over.abort();
      await Promise.all(attackers);
    },
  };
}
