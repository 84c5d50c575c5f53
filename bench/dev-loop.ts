// Measurement (o): `svc dev`: the time from the end of a change's build to the first answer of the new module, and the
// time of the build.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcProcess } from '../test/support/host-process.ts';
import { firstRound, median, type Measurement, type Pace } from './report.ts';

const SERVED = /compiled in ([\d.]+) (m?s), served ([\d.]+) (m?s) after/g;
/** Pause between two requests for the new route, in milliseconds. */
const LOOK_AGAIN_MS = 1;

export async function measureDevLoop(pace: Pace): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const project = join(folder, 'counter');
  cpSync(
    join(import.meta.dirname, '..', 'fixtures', 'counter', 'assembly'),
    join(project, 'assembly'),
    {
      recursive: true,
    },
  );
  const entry = join(project, 'assembly', 'index.ts');
  const source = readFileSync(entry, 'utf8');
  const dev = new SvcProcess(['dev', project, '--port', '0'], { cwd: folder });
  try {
    const url = await dev.listening();
    const figures: { served: number; compiled: number }[] = [];
    const first = firstRound(pace);
    // Round -1 warms the compiler, and is not measured.
    for (let round = first; round < pace.starts; round++) {
      const route = `/round-${round + 1}`;
      writeFileSync(
        entry,
        `${source}\n@endpoint("${route}") @access("local") class Round { @get("") get(): i32 { return 1; } }\nregister<Round>();\n`,
      );
      await answers(`${url}${route}`);
      // The log has one report of the start, and one of each round.
      await dev.logged(new RegExp(`(${SERVED.source}[^]*){${round - first + 2}}`));
      const last = [...dev.stderr.matchAll(SERVED)].at(-1);
      const [, built, builtUnit, after, afterUnit] = last ?? [];
      const figure = { served: inMs(after, afterUnit), compiled: inMs(built, builtUnit) };
      if (round >= 0) figures.push(figure);
    }
    const served = median(figures.map((figure) => figure.served));
    const compiled = median(figures.map((figure) => figure.compiled));
    return [
      {
        letter: 'o',
        what: '`svc dev`: a change is served, from the end of its compiling on',
        svc: served,
        beside: 'its compiling',
        other: compiled,
        unit: 'ms',
        ratio: served / compiled,
        cores: `all of it shares ${availableParallelism()}`,
      },
    ];
  } finally {
    await dev.end('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Resolves when the new module has answered for the first time. Requests are repeated, because the port is closed while
 * the module is replaced.
 */
async function answers(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined);
    await response?.text();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

function inMs(amount: string | undefined, unit: string | undefined): number {
  return unit === 's' ? Number(amount) * 1000 : Number(amount);
}
