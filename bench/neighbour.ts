// Measurement (h): the 99th percentile of a service's latency while another service on the same machine runs a hostile
// module. The other service is a separate process, and its requests run a handler that never returns. The measured
// service receives requests at a steady rate, far below its maximum.
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
    if (warmUpSeconds > 0) await latencyP99(good, warmUpSeconds);
    const figures: { alone: number; beside: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const alone = await latencyP99(good, seconds);
      const attack = startAttack(`${hostile}/faulty/spin`);
      const beside = await latencyP99(good, seconds);
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

/** Sends requests at the steady rate. Returns the 99th percentile of their latency, in milliseconds. */
async function latencyP99(url: string, seconds: number): Promise<number> {
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

/** Sends requests on each connection, one after another. Every answer is 504. */
function startAttack(url: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const attackers = Array.from({ length: HOSTILE_CONNECTIONS }, async () => {
    while (!stopping.signal.aborted) {
      const { status } = await fetch(url);
      if (status !== 504) throw new Error(`${url}: ${status}, and not 504`);
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(attackers);
    },
  };
}
