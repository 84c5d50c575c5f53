// The loop of `svc dev`: which modules it serves, and which state it reports. A stand-in of the test serves them.
import { describe, expect, test } from 'vitest';
import { DevLoop, type ServedForDev } from '../../../host/dev/dev-loop.ts';
import type { FromDevHost } from '../../../host/dev/dev-messages.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const built = (file: string) => ({ kind: 'module', file, builtMs: 1, builtAtMs: 1 }) as const;

/** A loop whose first module, `a`, is about to be served; the test sends it further ones. */
function loop() {
  const told: FromDevHost[] = [];
  const replaced: string[] = [];
  const dev = new DevLoop((message) => void told.push(message));
  const swap = {
    servedFile: 'a' as string | undefined,
    location: journalIn(temporaryFolder()),
    prepare() {},
    async close() {},
    replace: async (file: string): Promise<unknown> => {
      replaced.push(file);
      swap.servedFile = file;
      return { fingerprint: file };
    },
    recovered: (): unknown => undefined,
  };
  const begin = () => {
    const served = { url: undefined, source: { fingerprint: 'a' }, settings: {}, swap };
    dev.begin(served as unknown as ServedForDev, built('a'));
  };
  const settled = async (count: number) => {
    while (outcomes().length < count)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };
  const outcomes = () =>
    told.flatMap((message) => {
      if (message.kind === 'served')
        return `served ${message.source.file}${message.isNewest ? '' : ', no news'}`;
      if (message.kind !== 'refused') return [];
      return `refused ${message.file}${message.isRetried ? ', tried again' : ''}`;
    });
  return { dev, swap, begin, replaced, settled, outcomes };
}

describe('a module that is built', () => {
  test('while the first one is being started is served after it', async () => {
    const { dev, begin, settled, outcomes } = loop();
    dev.onMessage(built('a'));
    await dev.nextModule();
    dev.onMessage(built('b'));
    dev.onMessage(built('c'));
    begin();
    await settled(2);
    expect(outcomes()).toEqual(['served a', 'served c']);
    await dev.end();
  });

  test('while the first one is being started is the first when that is refused', async () => {
    const { dev } = loop();
    dev.onMessage(built('a'));
    await dev.nextModule();
    dev.onMessage(built('b'));
    expect(await dev.nextModule()).toMatchObject({ file: 'b' });
  });

  test('and is served already changes nothing', async () => {
    const { dev, begin, replaced, settled, outcomes } = loop();
    begin();
    dev.onMessage(built('a'));
    await settled(2);
    expect(outcomes()).toEqual(['served a', 'served a']);
    expect(replaced).toEqual([]);
    await dev.end();
  });
});

/** Lets the next module fail. `servedFile`: file of the module that is served after that. */
function failing(swap: ReturnType<typeof loop>['swap'], servedFile: string | undefined): void {
  const { replace } = swap;
  swap.replace = async () => {
    swap.replace = replace;
    swap.servedFile = servedFile;
    throw new SvcError('SVC_SHARD_FAILED', 'It ended.');
  };
}

describe('a module that fails', () => {
  test('before it takes over leaves the present one serving', async () => {
    const { dev, swap, begin, replaced, settled, outcomes } = loop();
    begin();
    failing(swap, 'a');
    dev.onMessage(built('b'));
    await settled(2);
    dev.onMessage(built('a'));
    await settled(3);
    expect(outcomes()).toEqual(['served a', 'refused b', 'served a']);
    expect(replaced).toEqual([]);
    await dev.end();
  });

  test('as it takes over is tried again, and the one before comes back only by taking over', async () => {
    const { dev, swap, begin, replaced, settled, outcomes } = loop();
    begin();
    failing(swap, undefined);
    dev.onMessage(built('b'));
    await settled(2);
    dev.onMessage(built('a'));
    await settled(3);
    expect(outcomes()).toEqual(['served a', 'refused b, tried again', 'served a']);
    expect(replaced).toEqual(['a']);
    await dev.end();
  });
});

/** Retries `b`; it serves when the result is called. */
async function tried() {
  const looping = loop();
  const { dev, swap, begin, settled } = looping;
  begin();
  failing(swap, undefined);
  dev.onMessage(built('b'));
  await settled(2);
  swap.recovered = () => {
    swap.servedFile = 'b';
    return { file: 'b', source: { fingerprint: 'b' } };
  };
  return looping;
}

describe('a module that is tried again', () => {
  test('is refused no more once it serves', async () => {
    const { dev, settled, outcomes } = await tried();
    dev.recovered();
    await settled(3);
    expect(outcomes()).toEqual(['served a', 'refused b, tried again', 'served b']);
    expect(dev.state()).toMatchObject({ state: 'serving', problems: [], builtMs: 1 });
    await dev.end();
  });

  test('says nothing of what was built after it, which does not compile', async () => {
    const { dev, settled, outcomes } = await tried();
    const wrong = { message: 'wrong', file: null, line: null, column: null };
    const problem = { ...wrong, source: null, help: null };
    dev.onMessage({ kind: 'build-failed', problems: [problem] });
    dev.recovered();
    await settled(3);
    expect(outcomes().at(-1)).toBe('served b, no news');
    expect(dev.state()).toMatchObject({ state: 'build-failed', problems: [problem] });
    await dev.end();
  });

  test('and is another one that came back has nothing to clear', async () => {
    const { dev, swap, outcomes } = await tried();
    swap.recovered = () => undefined;
    dev.recovered();
    expect(outcomes()).toEqual(['served a', 'refused b, tried again']);
    expect(dev.state().state).toBe('refused');
    await dev.end();
  });
});

describe('the location where a module failed at its start', () => {
  const location = { file: 'assembly/till.ts', line: 3, column: 5, function: null };
  const source = '    throw new Error();';
  const at = (file: string) => ({ kind: 'refused-at', file, location, source }) as const;

  test('is reported with the reason of the refusal', async () => {
    const { dev, swap, begin, settled } = loop();
    begin();
    failing(swap, 'a');
    dev.onMessage(built('b'));
    await settled(2);
    dev.onMessage(at('b'));
    expect(dev.state()).toMatchObject({
      state: 'refused',
      problems: [
        {
          message: 'It ended. [SVC_SHARD_FAILED]',
          file: 'assembly/till.ts',
          line: 3,
          column: 5,
          source,
        },
      ],
    });
    await dev.end();
  });

  test('that is found after another build was reported is ignored', async () => {
    const { dev, swap, begin, settled } = loop();
    begin();
    failing(swap, 'a');
    dev.onMessage(built('b'));
    await settled(2);
    dev.onMessage(at('c'));
    expect(dev.state().problems).toMatchObject([{ file: null, line: null }]);
    dev.onMessage(built('a'));
    await settled(3);
    dev.onMessage(at('b'));
    expect(dev.state()).toMatchObject({ state: 'serving', problems: [] });
    await dev.end();
  });

  test('of a module that has replaced the one before: it is reported that none is served', async () => {
    const { dev, swap, begin, settled } = loop();
    begin();
    failing(swap, undefined);
    dev.onMessage(built('b'));
    await settled(2);
    expect(dev.state().problems[0]?.help).toContain('serves no more');
    await dev.end();
  });
});
