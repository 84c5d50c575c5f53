// svc entity and svc upgrade-check with programs that print, that throw, that fold otherwise, and with a program beside a module.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillCart } from '../support/cart-journal.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { APPLIED, FLAG, FlagsJournal } from '../support/flags-journal.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const flags = new FlagsJournal(temporaryFolderOfFile());
const { svc } = flags;

beforeAll(async () => flags.fill());

const check = async (program: string, ...more: readonly string[]) =>
  svc('upgrade-check', '--program', program, '--data', 'data', ...more);

describe('svc entity with a program', () => {
  test('prints what the program prints on stderr, and has its environment', async () => {
    const talking = flags.changed(
      'talking',
      APPLIED,
      `console.log(process.env['FLAGS_GREETING']); ${APPLIED}`,
    );
    const { code, stdout, stderr } = await svc(
      'entity',
      ...FLAG,
      '--program',
      talking,
      '-o',
      'json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'hello\nhello\nhello\n' });
    expect(JSON.parse(stdout)).toMatchObject({ state: { percentage: 30 } });
    // The threads of an upgrade check have the environment as well.
    const checked = await check(talking, '--threads', '1', '--allow', 'route-removed');
    expect(checked).toMatchObject({ code: 0, stderr: 'hello\n'.repeat(4) });
  });

  test('names the event and the line at which apply throws', async () => {
    const throwing = flags.changed(
      'throwing',
      APPLIED,
      `if (event.percentage > 20) null!.x; ${APPLIED}`,
    );
    const { code, stdout, stderr } = await svc('entity', ...FLAG, '--program', throwing);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^svc: The fold faulted: .* of entity 'search' of component 'flag' cannot be folded: apply of component 'flag' threw an error \(TypeError: .* at src\/throwing-flag\.ts:\d+:\d+\)\. .*\[SVC_FOLD_FAULTED\]\n$/,
    );
  });

  test('shows the journal of a module, too', async () => {
    await fillCart(join(flags.folder, 'carts'));
    const cart = pathToFileURL(join(import.meta.dirname, '../components/support/cart.ts'));
    const text = `import { cart } from '${cart.href}';\nexport const components = { entities: [cart] };`;
    writeFileSync(join(flags.folder, 'cart.ts'), text);
    const asked = ['entity', 'carts', 'shopping-cart', 'c1', '-o', 'json'];
    writeFileSync(join(flags.folder, 'cart.wasm'), await compileFixture('shopping-cart'));
    const ofProgram = await svc(...asked, '--program', 'cart.ts');
    const ofModule = await svc(...asked, '--module', 'cart.wasm');
    expect(ofProgram).toMatchObject({ code: 0, stdout: ofModule.stdout });
    // And a component that moves from a module into a program is checked.
    const sides = ['--program', 'cart.ts', '--data', 'carts', '--from', 'cart.wasm', '-o', 'json'];
    const moved = await svc('upgrade-check', ...sides, '--set', 'svc.wasm.command-fuel=1000000');
    expect(JSON.parse(moved.stdout)).toMatchObject({
      program: 'cart.ts',
      from: 'cart.wasm',
      compared: 'module',
      entities: 1,
      records: 6,
    });
  });
});

describe('svc upgrade-check with a program', () => {
  const fromProgram = ['--from-program', 'src/components.ts'];

  test('is content with the same program', async () => {
    expect(await check('src/components.ts', ...fromProgram)).toMatchObject({
      code: 0,
      stdout: 'safe: 4 records of 2 entities\n',
      stderr: '',
    });
  });

  test('finds rows that come out otherwise', async () => {
    const before = flags.withView('last', 'put({ flags: [entityId] })');
    const now = flags.withView('none', 'put({ flags: [] })');
    const { stdout } = await check(now, '--from-program', before);
    expect(stdout).toMatch(
      /^view-rows-differ {2}all\n[^]* all: flags\[0\] was "cart" and is nothing\n/m,
    );
    expect(await check(now, '--from-program', now)).toMatchObject({ code: 0 });
  });

  test('finds a state that comes out otherwise, where both programs are given', async () => {
    const doubled = flags.changed('doubled', 'percentage: event.percentage,', 'percentage: 2,');
    const { stdout } = await check(doubled, ...fromProgram);
    expect(stdout).toMatch(/^state-differs {2}flag\n/m);
    // The endpoint is gone in this one, which the journal's note of the program shows as well.
    const alone = await check(doubled, '--allow', 'route-removed');
    expect(alone).toMatchObject({ code: 0 });
    expect(alone.stdout).toMatch(/\nsafe: .*, states not compared: that takes --from-program\n$/);
  });
});
