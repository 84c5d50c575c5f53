// The user of an image: by number, or by a name that is looked up in the image.
import { describe, expect, test } from 'vitest';
import { fileEntry, layer, linkEntry } from './support/layer-entries.ts';
import { cleanRefusal, folders, refusalOf, unpack } from './support/unpacking.ts';

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
    expect((await unpack([users], folders(), { image })).config.user).toEqual({ uid, gid });
  });

  test.each(['nobody', 'node:nobody', '99999999999', '-1', 'a:b:c'])(
    'is refused if it is %s',
    async (user) => {
      const image = { run: { Cmd: ['a'], User: user } };
      expect(await refusalOf([users], { image })).toEqual(cleanRefusal('SVC_IMAGE_NOT_RUNNABLE'));
    },
  );

  test('is not looked up in a file that a symbolic link leads to', async () => {
    const image = { run: { Cmd: ['a'], User: 'root' } };
    const link = layer(linkEntry('etc/passwd', '/etc/passwd'));
    expect(await refusalOf([link], { image })).toEqual(cleanRefusal('SVC_IMAGE_NOT_RUNNABLE'));
  });
});
