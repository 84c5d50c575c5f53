// Every measurement of the benchmark runs to its end and has a result. No test depends on how fast anything is.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { missingServer } from '../support/postgres/postgres-programs.ts';
import { python } from '../support/python.ts';
import { median, reportText, type BenchReport } from '../../bench/report.ts';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = join(import.meta.dirname, '..', '..', 'bench', 'main.ts');
const LETTERS =
  'a,b,b1,c,a2,a3,d,e,f,g,h,i,i2,j,j2,k,l,m,n,n2,o,p,v,w,w2,q,q2,r,s,t,t2,u,x,y,y2,y3,y4,z,za,zb,zc,aa,ab,ac,ad,ae,af,ag,ag2,ba,bb,bc,bd,bd2,bd3,be,ca,cb,cc,cd,da,da2,db,db2,dc,dc2,dd,dd2,de,df,ec,ea,eb,ed,ee,ef'.split(
    ',',
  );
/** Rows that are left out, with a reason that is printed, where no Python can serve the cart. */
const PYTHON_LETTERS = new Set(['da2', 'db2', 'dc2', 'dd2']);
/** Rows that are left out, with a reason that is printed, where there is no PostgreSQL. */
const POSTGRES_LETTERS = new Set(['ea', 'eb', 'ed', 'ee', 'ef']);
/** Rows whose figure may be 0 or less in a trial. */
const BELOW_LEAST: Readonly<Record<string, number>> = {
  // In half a second, an idle control plane may use no processor time that the system counts.
  bc: -1,
  // A server may return more memory to the system than 100 idle connections take.
  z: -Infinity,
  zc: -Infinity,
};
const bench = async (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

describe('npm run bench', () => {
  test('measures every row in a trial, and writes a table and JSON', async () => {
    const file = join(temporaryFolder(), 'report.json');
    const { stdout } = await bench('--trial', '--json', file);
    const report = JSON.parse(readFileSync(file, 'utf8')) as BenchReport;
    const hasPython = python !== undefined;
    const hasPostgres = (await missingServer('18')) === undefined;
    const measured = LETTERS.filter(
      (letter) =>
        (letter !== 'bd3' || noSandbox === undefined) &&
        (hasPython || !PYTHON_LETTERS.has(letter)) &&
        (hasPostgres || !POSTGRES_LETTERS.has(letter)),
    );
    expect(report.measurements.map(({ letter }) => letter)).toEqual(measured);
    for (const { letter, svc, cores } of report.measurements) {
      expect(svc, `the figure of (${letter})`).toBeGreaterThan(BELOW_LEAST[letter] ?? 0);
      expect(cores, `the processors of (${letter})`).not.toBe('');
    }
    // One round, so that the median of the ratios is the ratio of the medians.
    const ratios = report.measurements.map(({ ratio }) => ratio?.toFixed(9));
    expect(ratios).toEqual(
      report.measurements.map(({ svc, other }) => other && (svc / other).toFixed(9)),
    );
    expect(report.machine).toMatch(/^\d+ cores \(.+\), \d+ GiB of memory/);
    expect(stdout).toBe(reportText(report));
  }, 900_000);

  test.each([
    ['--rounds', '0'],
    ['--seconds', 'many'],
    ['--only', 'y9'],
    ['--entities', '0'],
  ])('refuses %s %s', async (option, value) => {
    await expect(bench(option, value)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--${option.slice(2)} takes`) as string,
    });
  });
});

describe('a report', () => {
  test('takes the middle of its rounds, or the mean of the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  test('is a table of what was measured beside what', () => {
    const text = reportText({
      date: '2026-01-02',
      machine: '2 cores',
      load: 'wrk, one thread',
      pace: { seconds: 3, rounds: 5, warmUpSeconds: 2, starts: 7 },
      measurements: [
        {
          letter: 'e',
          what: 'start',
          svc: 300.4,
          beside: 'bare',
          other: 150,
          unit: 'ms',
          ratio: 2.0026,
          cores: '2 each',
        },
      ],
    });
    expect(text).toBe(
      [
        '2026-01-02, 2 cores. Requests by wrk, one thread. Medians of 5 rounds of 3 s, in turns.',
        '',
        '|     | What  | svc    | Beside it    | Ratio | Cores  |',
        '|-----|-------|--------|--------------|-------|--------|',
        '| (e) | start | 300 ms | bare: 150 ms | 2.00  | 2 each |',
        '',
      ].join('\n'),
    );
  });
});
