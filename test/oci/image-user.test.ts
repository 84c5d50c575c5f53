// The user of an image: by number, or by a name that is looked up in the image.
import { describe, expect, test } from 'vitest';
import { fileEntry, layer, linkEntry } from './support/layer-entries.ts';
import { expectRefused, places, unpack } from './support/unpacking.ts';

describe('the user of an image', () => {
  const users = layer(
    fileEntry('etc/passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1001::/home:/bin/sh\n'),
    fileEntry('etc/group', 'root:x:0:\nstaff:x:50:node\n'),
  );
  test.each([
    ['', 0, 0],
    ['0', 0, 0],
    ['node', 1000, 1001],
    ['1000', 1000, 1001],
    ['4242', 4242, 0],
    ['node:staff', 1000, 50],
    ['4242:77', 4242, 77],
  ])('%o has the numbers %i and %i', async (user, uid, gid) => {
    const image = { run: { Cmd: ['a'], User: user } };
    expect((await unpack([users], places(), { image })).config.user).toEqual({ uid, gid });
  });

  test.each(['nobody', 'node:nobody', '99999999999', '-1', 'a:b:c'])(
    'is refused if it is %s',
    async (user) => {
      const image = { run: { Cmd: ['a'], User: user } };
      await expectRefused([users], 'SVC_IMAGE_NOT_RUNNABLE', { image });
    },
  );

  test('is not looked up in a file that a symbolic link leads to', async () => {
    const at = places();
    const image = { run: { Cmd: ['a'], User: 'root' } };
    const link = layer(linkEntry('etc/passwd', '/etc/passwd'));
    await expectRefused([link], 'SVC_IMAGE_NOT_RUNNABLE', { image }, at);
  });
});
